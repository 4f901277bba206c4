import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { compactJson } from '../../../deploy/tools/json-and-yaml-text.ts'
import { code, table, withBlock } from '../../../deploy/tools/reference/markdown.ts'
import { matrix } from './faults-and-guarantees-table.ts'
import { readmeText } from './readme-figures.ts'
import { matrixColumns, pageTables } from './report.ts'
import type { Row } from './scenario-run.ts'

export interface Circumstances {
  /** Multiplies every time limit, for a busy machine. */
  readonly patience: number
  /** Date of the start, ISO 8601: `2026-11-21`. */
  readonly date: string
  /** Commit of the tree, with `+` for uncommitted changes. */
  readonly commit: string
  /** Processors, and the load average of the machine at the start. */
  readonly machine: string
  readonly node: string
}

export interface PublishedRow extends Row, Circumstances {
  readonly verdict: 'holds' | 'FAILS'
}

/** The scenarios, in the order of the results table. */
type Runnable = readonly { readonly name: string; readonly shows: string }[]

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

/**
 * Replaces rows of `before` with the `fresh` rows of the same scenarios, and drops rows of removed
 * scenarios.
 */
export function merged(
  before: readonly PublishedRow[],
  fresh: readonly PublishedRow[],
  scenarios: Runnable,
): readonly PublishedRow[] {
  const rows = new Map([...before, ...fresh].map(row => [row.name, row]))
  return scenarios.flatMap(({ name }) => rows.get(name) ?? [])
}

/**
 * Replaces the rows of the same scenarios with `fresh`, drops rows of removed scenarios, and
 * renders the pages.
 */
export async function publish(root: string, fresh: readonly PublishedRow[], scenarios: Runnable): Promise<void> {
  for (const [path, text] of await publishedFiles(root, scenarios, fresh)) await writeFile(join(root, path), text)
}

/**
 * Returns the new text of each file with rows, by path. `texts` has pages that another generator
 * has changed, and overrides the files.
 */
export async function publishedFiles(
  root: string,
  scenarios: Runnable,
  fresh: readonly PublishedRow[] = [],
  texts: ReadonlyMap<string, string> = new Map(),
): Promise<ReadonlyMap<string, string>> {
  const read = async (path: string): Promise<string> => texts.get(path) ?? (await readFile(join(root, path), 'utf8'))
  const rows = merged(await readRows(root), fresh, scenarios)
  const page = withBlock(await read(places.page), 'summary', matrixTable(rows))
  return new Map([
    [places.results, compactJson(rows, 1)],
    [places.page, withBlock(page, 'chaos', fullText(rows, scenarios))],
    [places.front, withBlock(await read(places.front), 'chaos', readmeText(rows))],
  ])
}

/** Reads the published rows. Empty if the file does not exist. @throws when the file is not JSON */
async function readRows(root: string): Promise<readonly PublishedRow[]> {
  const text = await readFile(join(root, places.results), 'utf8').catch(() => '[]')
  return JSON.parse(text) as readonly PublishedRow[]
}

/**
 * Returns the tables of results with an explanation of their columns, then lists of the failures
 * and of the scenarios without results.
 */
export function fullText(rows: readonly PublishedRow[], scenarios: Runnable): string {
  const notRun = scenarios.filter(({ name }) => !rows.some(row => row.name === name))
  const failures = rows.flatMap(({ name, failures }) => failures.map(failure => `${code(name)}: ${failure}`))
  return [
    ...(rows.length > 0 ? figuresText(rows) : ['Nothing has been published yet.']),
    ...listed('Failures:', failures),
    ...listed(
      'Not published yet:',
      notRun.map(({ name, shows }) => `${code(name)}: ${shows}`),
    ),
  ].join('\n\n')
}

function figuresText(rows: readonly PublishedRow[]): readonly string[] {
  return [
    '### Scenarios',
    table(
      ['scenario', 'what happens'],
      rows.map(({ name, shows }) => [code(name), shows]),
    ),
    ...pageTables.flatMap(({ title, columns, isFor }) => [
      `### ${title}`,
      table(
        ['column', 'meaning'],
        columns.map(column => [column.title, column.meaning]),
      ),
      table(
        ['scenario', ...columns.map(column => column.title)],
        rows.filter(isFor).map(row => [code(row.name), ...columns.map(({ cell }) => String(cell(row)))]),
      ),
    ]),
    ...additionalText(rows),
    '### Runs',
    table(['scenario', 'seed', 'day', 'commit', 'machine'], rows.map(runCells)),
  ]
}

function runCells({ name, seed, date, commit, machine, patience }: PublishedRow): readonly string[] {
  const busy = patience === 1 ? '' : `, limits × ${patience}`
  return [code(name), String(seed), date, commit, `${machine}${busy}`]
}

function additionalText(rows: readonly PublishedRow[]): readonly string[] {
  const items = rows.flatMap(({ name, measured = [] }) =>
    measured.length > 0 ? [[`- ${code(name)}`, ...measured.map(each => `  - ${each}`)].join('\n')] : [],
  )
  return items.length > 0 ? ['### Additional figures', items.join('\n')] : []
}

const listed = (title: string, items: readonly string[]): readonly string[] =>
  items.length > 0 ? [title, items.map(item => `- ${item}`).join('\n')] : []

/** Returns a table with one line for each kind of fault, with the sums over its scenarios. */
export function matrixTable(rows: readonly PublishedRow[]): string {
  const titles = ['fault', 'what must hold', 'scenarios', ...matrixColumns.map(([title]) => title)]
  const lines = matrix.map(({ fault, holds, scenarios }) => {
    const own = scenarios.flatMap(name => rows.filter(row => row.name === name))
    const cells = matrixColumns.map(([, cell]) => String(cell(own, scenarios.length)))
    return [typeof fault === 'string' ? fault : fault(own), holds, scenarios.map(code).join(' '), ...cells]
  })
  return table(titles, lines)
}
