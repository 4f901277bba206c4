import { execFileSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { capacityBlocks } from '../../../../deploy/tools/capacity/page-blocks.ts'
import { compactJson } from '../../../../deploy/tools/json-and-yaml-text.ts'
import { withBlock } from '../../../../deploy/tools/reference/markdown.ts'
import { rowNames } from '../options.ts'
import { pageText, summaryText } from './page-tables.ts'
import { type Entry, judged, replaced } from './published-entries.ts'
import { readmeText } from './readme-figures.ts'
import { summaryRows } from './summary-rows.ts'

const resultsPath = 'docs/performance/results.json'

/** @throws when results.json cannot be read */
async function readEntries(root: string): Promise<readonly Entry[]> {
  return (JSON.parse(await readFile(join(root, resultsPath), 'utf8')) as { readonly entries: readonly Entry[] }).entries
}

export async function publish(root: string, fresh: readonly Entry[], isWhole: boolean): Promise<void> {
  for (const [path, text] of await publishedFiles(root, fresh, isWhole)) await writeFile(join(root, path), text)
}

/**
 * The new text of each file with results, by path. `fresh` replaces entries of the same row and
 * variant; with `isWhole`, all entries of its rows.
 */
export async function publishedFiles(
  root: string,
  fresh: readonly Entry[] = [],
  isWhole = false,
): Promise<ReadonlyMap<string, string>> {
  const entries = judged(replaced(await readEntries(root), fresh, { rows: rowNames, isWhole }))
  const page = (path: string): Promise<string> => readFile(join(root, path), 'utf8')
  const blocks: Readonly<Record<string, ReadonlyMap<string, string>>> = {
    'README.md': new Map([['performance', readmeText(entries)]]),
    'docs/performance/README.md': new Map([
      ['summary', summaryText(entries, summaryRows)],
      ['results', pageText(entries, rowNames)],
    ]),
    'docs/explanation/capacity.md': capacityBlocks(entries),
  }
  const files = new Map([[resultsPath, compactJson({ entries }, 2)]])
  for (const [path, byName] of Object.entries(blocks))
    files.set(
      path,
      [...byName].reduce((text, [name, block]) => withBlock(text, name, block), await page(path)),
    )
  return files
}

/** Only changes in these paths can affect the results. */
const code = ['src', 'packages', 'bin', 'deploy/tools/local', 'test/tools/bench', 'test/support', 'package-lock.json']

/**
 * The commit id, or `unknown`. ` with changes` follows if files that can affect the results have
 * uncommitted changes.
 */
export function commitOf(root: string): string {
  const git = (...args: string[]): string => execFileSync('git', ['-C', root, ...args], { encoding: 'utf8' }).trim()
  try {
    const changed = git('status', '--porcelain', '--', ...code)
    return git('rev-parse', '--short', 'HEAD') + (changed === '' ? '' : ' with changes')
  } catch {
    return 'unknown'
  }
}
