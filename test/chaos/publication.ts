import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
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
export const places = {
  results: 'docs/reliability/results.json',
  page: 'docs/reliability/README.md',
  front: 'README.md',
} as const
const marks = {
  start: '<!-- begin: published by make chaos -->',
  end: '<!-- end: published by make chaos -->',
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
  const results = join(root, places.results)
  const before = await readRows(root)
  const rows = merged(before, fresh, scenarios)
  await writeFile(results, `${JSON.stringify(rows, null, 2)}\n`)
  for (const [place, table] of [
    [places.page, fullTable(rows, scenarios)],
    [places.front, matrixTable(rows)],
  ] as const) {
    const file = join(root, place)
    await writeFile(file, withTable(await readFile(file, 'utf8'), table))
  }
}

/** Empty when nothing has been published. @throws when it is no JSON */
export async function readRows(root: string): Promise<readonly PublishedRow[]> {
  const text = await readFile(join(root, places.results), 'utf8').catch(() => '[]')
  return JSON.parse(text) as readonly PublishedRow[]
}

const line = (cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`
const withHead = (titles: readonly string[], lines: readonly string[]): readonly string[] => [
  line(titles),
  line(titles.map(() => '---')),
  ...lines,
]

/** One line a scenario, why what fails does, and what has not been run. */
export function fullTable(rows: readonly PublishedRow[], scenarios: Runnable): readonly string[] {
  const notRun = scenarios.filter(({ name }) => !rows.some(row => row.name === name))
  const titles = ['', ...columns.map(([title]) => title), 'day', 'commit', 'machine']
  const lines = rows.map(row => {
    const { shows, date, commit, machine, patience } = row
    const busy = patience === 1 ? '' : `, limits × ${patience}`
    return line([shows, ...columns.map(([, cell]) => cell(row)), date, commit, `${machine}${busy}`])
  })
  return [
    ...(rows.length > 0 ? withHead(titles, lines) : ['Nothing has been published yet.']),
    ...listed(
      'What fails, and why:',
      rows.flatMap(({ name, failures }) => failures.map(failure => `\`${name}\`: ${failure}`)),
    ),
    ...listed(
      'Measured besides:',
      rows.flatMap(({ name, measured = [] }) => (measured.length > 0 ? [`\`${name}\`: ${measured.join('; ')}`] : [])),
    ),
    ...listed(
      'Not run for publication yet:',
      notRun.map(({ name, shows }) => `\`${name}\`: ${shows}`),
    ),
  ]
}

const listed = (title: string, items: readonly string[]): readonly string[] =>
  items.length > 0 ? ['', title, '', ...items.map(item => `- ${item}`)] : []

/** One line a row of the matrix: all its scenarios together. */
export function matrixTable(rows: readonly PublishedRow[]): readonly string[] {
  const titles = ['what is done to it', 'what has to hold', 'scenarios', ...matrixColumns.map(([title]) => title)]
  const lines = matrix.map(({ fault, holds, scenarios }) => {
    const own = scenarios.flatMap(name => rows.filter(row => row.name === name))
    const names = scenarios.map(name => `\`${name}\``).join(' ')
    return line([fault, holds, names, ...matrixColumns.map(([, cell]) => cell(own, scenarios.length))])
  })
  return withHead(titles, lines)
}

/** Replaces what stands between the marks of a page. @throws when the page has lost them */
export function withTable(page: string, table: readonly string[]): string {
  const [start, end] = [page.indexOf(marks.start), page.indexOf(marks.end)]
  if (start < 0 || end < start) throw new Error(`the page has no ${marks.start} … ${marks.end}`)
  return `${page.slice(0, start)}${[marks.start, ...table, ''].join('\n')}${page.slice(end)}`
}
