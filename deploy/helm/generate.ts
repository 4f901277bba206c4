import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { manifestFiles } from './generated.ts'
import { findOrBuildHelm } from './helm.ts'

/* Writes what the chart makes of its default values; its test says so when it was forgotten. */

const root = join(import.meta.dirname, '../..')
const folder = join(root, 'deploy/kubernetes')
mkdirSync(folder, { recursive: true })
const files = await manifestFiles(await findOrBuildHelm())
for (const name of readdirSync(folder)) if (!files.has(`deploy/kubernetes/${name}`)) rmSync(join(folder, name))
for (const [path, text] of files) {
  writeFileSync(join(root, path), text)
  process.stdout.write(`${path}\n`)
}
