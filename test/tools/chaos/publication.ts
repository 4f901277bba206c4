import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { jsonText } from '../../../deploy/tools/layout.ts'
import { code, table, withBlock } from '../../../deploy/tools/reference/markdown.ts'
import { matrix } from './matrix.ts'
import { columns, matrixColumns } from './report.ts'
import type { Row } from './run.ts'

/** Under which a row came about. */
export interface Circumstances {
  /** Factor on every time limit. */
  readonly patience: number
  /** Of the beginning, ISO 8601: `2026-11-21`. */
  readonly date: string
  /** The tree that it ran on; `+` behind it: with changes that were not committed. */
  readonly commit: string
  /** Processors, and the load when it began. */
  readonly machine: string
  readonly node: string
}

/** A row as it stands in `results.json`. */
export interface PublishedRow extends Row, Circumstances {
  readonly verdict: 'holds' | 'FAILS'
}

/** What there is to run, in the order of the table. */
type Runnable = readonly { readonly name: string; readonly shows: string }[]

/** Files of the repository. */
const places = {
  results: 'docs/reliability/results.json',
  page: 'docs/reliability/README.md',
  front: 'README.md',
} as const

export const published = (row: Row, circumstances: Circumstances): PublishedRow => ({
  ...row,
  verdict: row.failures.length === 0 ? 'holds' : 'FAILS',
  ...circumstances,
})

/** Those of before, with what has been run now in their place; what is no scenario any more is dropped. */
export function merged(
  before: readonly PublishedRow[],
  fresh: readonly PublishedRow[],
  scenarios: Runnable,
): readonly PublishedRow[] {
  const rows = new Map([...before, ...fresh].map(row => [row.name, row]))
  return scenarios.flatMap(({ name }) => rows.get(name) ?? [])
}

/** Puts rows into `results.json` and renders both tables. Replaces only the rows of the same names. `root`: of the repository. */
export async function publish(root: string, fresh: readonly PublishedRow[], scenarios: Runnable): Promise<void> {
  for (const [path, text] of await publishedFiles(root, scenarios, fresh)) await writeFile(join(root, path), text)
}

/**
 * The files of a checkout that hold or show rows, by path, with `fresh` in place of the rows of the same names.
 * `texts` has files that another generator changed before.
 */
export async function publishedFiles(
  root: string,
  scenarios: Runnable,
  fresh: readonly PublishedRow[] = [],
  texts: ReadonlyMap<string, string> = new Map(),
): Promise<ReadonlyMap<string, string>> {
  const read = async (path: string): Promise<string> => texts.get(path) ?? (await readFile(join(root, path), 'utf8'))
  const rows = merged(await readRows(root), fresh, scenarios)
  return new Map([
    [places.results, jsonText(rows)],
    [places.page, withBlock(await read(places.page), 'chaos', fullText(rows, scenarios))],
    [places.front, withBlock(await read(places.front), 'chaos', matrixTable(rows))],
  ])
}

/** Empty when nothing has been published. @throws when it is no JSON */
async function readRows(root: string): Promise<readonly PublishedRow[]> {
  const text = await readFile(join(root, places.results), 'utf8').catch(() => '[]')
  return JSON.parse(text) as readonly PublishedRow[]
}

/** One line a scenario, why a failing one fails, and which were not run. */
export function fullText(rows: readonly PublishedRow[], scenarios: Runnable): string {
  const notRun = scenarios.filter(({ name }) => !rows.some(row => row.name === name))
  const titles = ['', ...columns.map(([title]) => title), 'day', 'commit', 'machine']
  const lines = rows.map(row => {
    const { shows, date, commit, machine, patience } = row
    const busy = patience === 1 ? '' : `, limits × ${patience}`
    return [shows, ...columns.map(([, cell]) => String(cell(row))), date, commit, `${machine}${busy}`]
  })
  return [
    rows.length > 0 ? table(titles, lines) : 'Nothing has been published yet.',
    ...listed(
      'What fails, and why:',
      rows.flatMap(({ name, failures }) => failures.map(failure => `${code(name)}: ${failure}`)),
    ),
    ...listed(
      'Measured besides:',
      rows.flatMap(({ name, measured = [] }) => (measured.length > 0 ? [`${code(name)}: ${measured.join('; ')}`] : [])),
    ),
    ...listed(
      'Not run for publication yet:',
      notRun.map(({ name, shows }) => `${code(name)}: ${shows}`),
    ),
  ].join('\n\n')
}

const listed = (title: string, items: readonly string[]): readonly string[] =>
  items.length > 0 ? [title, items.map(item => `- ${item}`).join('\n')] : []

/** One line a row of the matrix: all its scenarios together. */
export function matrixTable(rows: readonly PublishedRow[]): string {
  const titles = ['what is done to it', 'what has to hold', 'scenarios', ...matrixColumns.map(([title]) => title)]
  const lines = matrix.map(({ fault, holds, scenarios }) => {
    const own = scenarios.flatMap(name => rows.filter(row => row.name === name))
    const cells = matrixColumns.map(([, cell]) => String(cell(own, scenarios.length)))
    return [fault, holds, scenarios.map(code).join(' '), ...cells]
  })
  return table(titles, lines)
}
