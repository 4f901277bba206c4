import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { chartFiles, manifestFiles } from './generated.ts'
import { findOrBuildHelm } from './helm.ts'

/* Writes what of the chart is made from the code, then its default rendering; its test says so when it was forgotten. */

const root = join(import.meta.dirname, '../..')
function write(files: ReadonlyMap<string, string>): void {
  for (const [path, text] of files) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
    process.stdout.write(`${path}\n`)
  }
}

write(chartFiles())
const manifests = await manifestFiles(await findOrBuildHelm())
for (const name of readdirSync(join(root, 'deploy/kubernetes'))) {
  if (!manifests.has(`deploy/kubernetes/${name}`)) rmSync(join(root, 'deploy/kubernetes', name))
}
write(manifests)
