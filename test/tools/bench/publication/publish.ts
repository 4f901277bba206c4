import { execFileSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { capacityBlocks } from '../../../../deploy/tools/capacity/page.ts'
import { jsonText } from '../../../../deploy/tools/layout.ts'
import { withBlock } from '../../../../deploy/tools/reference/markdown.ts'
import { rowNames } from '../options.ts'
import { type Entry, judged, replaced } from './entries.ts'
import { headlines } from './headlines.ts'
import { frontText, pageText } from './tables.ts'

const resultsPath = 'docs/performance/results.json'

/** The published entries of a checkout. @throws when its results.json cannot be read */
async function readEntries(root: string): Promise<readonly Entry[]> {
  return (JSON.parse(await readFile(join(root, resultsPath), 'utf8')) as { readonly entries: readonly Entry[] }).entries
}

/** Replaces published entries by new ones and renders the pages that show them. */
export async function publish(root: string, fresh: readonly Entry[], isWhole: boolean): Promise<void> {
  for (const [path, text] of await publishedFiles(root, fresh, isWhole)) await writeFile(join(root, path), text)
}

/** The files of a checkout that hold or show results, by path, with `fresh` in place of the entries that it replaces. */
export async function publishedFiles(
  root: string,
  fresh: readonly Entry[] = [],
  isWhole = false,
): Promise<ReadonlyMap<string, string>> {
  const entries = judged(replaced(await readEntries(root), fresh, { rows: rowNames, isWhole }))
  const page = (path: string): Promise<string> => readFile(join(root, path), 'utf8')
  const blocks: Readonly<Record<string, ReadonlyMap<string, string>>> = {
    'README.md': new Map([['performance', frontText(entries, headlines)]]),
    'docs/performance/README.md': new Map([['results', pageText(entries, rowNames)]]),
    'docs/explanation/capacity.md': capacityBlocks(entries),
  }
  const files = new Map([[resultsPath, jsonText({ entries })]])
  for (const [path, byName] of Object.entries(blocks))
    files.set(
      path,
      [...byName].reduce((text, [name, block]) => withBlock(text, name, block), await page(path)),
    )
  return files
}

/** What a run is made of. A page that changes meanwhile changes no figure. */
const code = ['src', 'packages', 'bin', 'deploy/tools/local', 'test/tools/bench', 'test/support', 'package-lock.json']

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
