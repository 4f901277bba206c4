import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { generatedFiles } from './generated-files.ts'

// Writes the generated files. With --check, only lists those that are out of date.

const root = join(import.meta.dirname, '../..')
const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } })

const stale: string[] = []
for (const [path, text] of await generatedFiles()) {
  const file = join(root, path)
  const committed = await readFile(file, 'utf8').catch(() => undefined)
  if (committed === text) continue
  stale.push(path)
  if (values.check) continue
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, text)
}
for (const path of stale) process.stdout.write(`${values.check ? 'stale: ' : ''}${path}\n`)
if (values.check && stale.length > 0) {
  process.stderr.write('These generated files are out of date. Run: npm run generate\n')
  process.exitCode = 1
}
