import { execFileSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { capacityBlocks } from '../../../deploy/tools/capacity/page.ts'
import { jsonText } from '../../../deploy/tools/layout.ts'
import { rowNames } from '../options.ts'
import { type Entry, replaced } from './entries.ts'
import { headlines } from './headlines.ts'
import { plotFiles } from './plots.ts'
import { frontText, pageText, withBlock } from './tables.ts'

const resultsPath = 'docs/performance/results.json'

/** What was published so far, of a checkout. @throws when its results.json cannot be read */
export async function readEntries(root: string): Promise<readonly Entry[]> {
  return (JSON.parse(await readFile(join(root, resultsPath), 'utf8')) as { readonly entries: readonly Entry[] }).entries
}

/** Puts what was measured in the place of what it replaces, and makes anew what shows it. */
export async function publish(root: string, fresh: readonly Entry[], isWhole: boolean): Promise<void> {
  const entries = replaced(await readEntries(root), fresh, { rows: rowNames, isWhole })
  await writeFile(join(root, resultsPath), jsonText({ entries }))
  for (const [path, text] of await shownFiles(root, entries)) await writeFile(join(root, path), text)
}

/** Files of a checkout as they have to be with these entries, by their path. */
export async function shownFiles(root: string, entries: readonly Entry[]): Promise<ReadonlyMap<string, string>> {
  const page = (path: string): Promise<string> => readFile(join(root, path), 'utf8')
  const blocks: Readonly<Record<string, ReadonlyMap<string, string>>> = {
    'README.md': new Map([['performance', frontText(entries, headlines)]]),
    'docs/performance/README.md': new Map([['results', pageText(entries, rowNames)]]),
    'docs/explanation/capacity.md': capacityBlocks(entries),
  }
  const shown = new Map([...plotFiles(entries)].map(([file, text]) => [`docs/performance/${file}`, text]))
  for (const [path, byName] of Object.entries(blocks))
    shown.set(
      path,
      [...byName].reduce((text, [name, block]) => withBlock(text, name, block), await page(path)),
    )
  return shown
}

/** What a run is made of. A page that changes meanwhile changes no figure. */
const code = ['src', 'packages', 'bin', 'deploy/local', 'test/bench', 'test/support', 'package-lock.json']

/** The commit of a checkout, and whether what is measured is as committed. */
export function commitOf(root: string): string {
  const git = (...args: string[]): string => execFileSync('git', ['-C', root, ...args], { encoding: 'utf8' }).trim()
  try {
    const changed = git('status', '--porcelain', '--', ...code)
    return git('rev-parse', '--short', 'HEAD') + (changed === '' ? '' : ' with changes')
  } catch {
    return 'unknown'
  }
}
