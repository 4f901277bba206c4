import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { generatedFiles } from './generated.ts'

/* Writes what is made from the code; its test says so when it was forgotten. */

const root = join(import.meta.dirname, '..')
for (const [path, text] of await generatedFiles()) {
  await mkdir(dirname(join(root, path)), { recursive: true })
  await writeFile(join(root, path), text)
  process.stdout.write(`${path}\n`)
}
