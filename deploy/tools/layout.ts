import { execFileSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { Document, isCollection, isPair, visit } from 'yaml'

/** Maximum length of a collection that is written on one line of a YAML file. */
const maxFlowLength = 110

const biome = join(dirname(createRequire(import.meta.url).resolve('@biomejs/biome/package.json')), 'bin/biome')

/** Formats JSON with Biome, which keeps short values on one line. */
export const jsonText = (value: unknown): string =>
  execFileSync(process.execPath, [biome, 'format', '--stdin-file-path=generated.json'], {
    input: JSON.stringify(value),
    encoding: 'utf8',
    cwd: join(import.meta.dirname, '../..'),
    maxBuffer: 16 * 1_048_576,
  })

/** Formats YAML with short collections of scalars on one line. */
export function yamlText(value: unknown): string {
  const document = new Document(value, { aliasDuplicateObjects: false })
  visit(document, {
    Collection(_, node) {
      const isFlat = !node.items.some(item => isCollection(isPair(item) ? item.value : item))
      node.flow = isFlat && JSON.stringify(node.toJSON()).length <= maxFlowLength
    },
  })
  return document.toString({ lineWidth: 0 })
}
