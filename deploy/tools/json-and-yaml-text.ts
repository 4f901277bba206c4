import { execFileSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { Document, isCollection, isPair, visit } from 'yaml'

/** Maximum length, in characters, of a collection that is written on one line of YAML. */
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

/**
 * Formats JSON for files that people read only as diffs: one line for each entry of the outermost
 * `depth` levels.
 */
export const compactJson = (value: unknown, depth: number): string => `${compact(value, depth, '')}\n`

function compact(value: unknown, depth: number, indent: string): string {
  if (depth === 0 || typeof value !== 'object' || value === null) return JSON.stringify(value)
  const inner = `${indent}  `
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  const lines = Object.entries(value)
    .filter(([, item]) => item !== undefined)
    .map(([key, item]) => {
      const name = Array.isArray(value) ? '' : `${JSON.stringify(key)}: `
      return `${inner}${name}${compact(item, depth - 1, inner)}`
    })
  return lines.length === 0 ? `${open}${close}` : `${open}\n${lines.join(',\n')}\n${indent}${close}`
}

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
