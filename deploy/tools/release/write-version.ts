import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { released } from './versioned-files.ts'

/* For `npm run release`: copies the version of package.json to all other files that contain it. */

const root = join(import.meta.dirname, '../../..')
const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string }
const changed = await Promise.all(
  Object.entries(released).map(async ([path, change]) => {
    const file = join(root, path)
    return [file, change(await readFile(file, 'utf8'), version)] as const
  }),
)
for (const [file, text] of changed) await writeFile(file, text)
