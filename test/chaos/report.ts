import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Row } from './run.ts'

const seconds = (ms: number | null): string => (ms === null ? '–' : (ms / 1_000).toFixed(1))
const orNever = (ms: number | null): string => (ms === null ? 'never' : seconds(ms))

const columns: readonly (readonly [title: string, cell: (row: Row) => string | number])[] = [
  ['scenario', row => row.name],
  ['seed', row => row.seed],
  ['faults', row => row.faults.length],
  ['sent', row => row.sent],
  ['delivered', row => row.delivered],
  ['waiting', row => row.waiting],
  ['dead-lettered', row => row.deadLettered],
  ['lost', row => row.lost],
  ['duplicates', row => row.duplicates],
  ['recovery s', row => orNever(row.recoveryMs)],
  ['latest s', row => seconds(row.latestMs)],
  ['pause s', row => seconds(row.pauseMs)],
  ['refused', ({ intake }) => intake?.refused ?? '–'],
  ['unanswered', ({ intake }) => intake?.broken ?? '–'],
  ['answer s', ({ intake }) => seconds(intake?.answerMs ?? null)],
  ['accepts s', ({ intake }) => (intake === null ? '–' : orNever(intake.acceptedMs))],
  ['MB', ({ intake }) => intake?.peakMb ?? '–'],
  ['verdict', row => (row.failures.length === 0 ? 'holds' : 'FAILS')],
]

/** For a terminal: one line a scenario, and below it why what fails does. */
export function table(rows: readonly Row[]): readonly string[] {
  const cells = [columns.map(([title]) => title), ...rows.map(row => columns.map(([, cell]) => String(cell(row))))]
  const widths = columns.map((_, column) => Math.max(...cells.map(line => line[column]!.length)))
  const isNumber = (text: string): boolean => /^[\d.–]+$/.test(text)
  const lines = cells.map(line =>
    line
      .map((cell, column) => (isNumber(cell) ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!)))
      .join('  ')
      .trimEnd(),
  )
  return [...lines, ...rows.flatMap(({ name, failures }) => failures.map(failure => `FAILS  ${name}: ${failure}`))]
}

export interface Conditions {
  readonly seed: number
  readonly patience: number
  /** ISO 8601 */
  readonly startedAt: string
  readonly node: string
  readonly cpus: string
}

const marks = { start: '<!-- table of the last full run -->', end: '<!-- end of the table -->' } as const

/** Replaces `results.json` and the table in `README.md` of a directory. */
export async function publish(directory: string, conditions: Conditions, rows: readonly Row[]): Promise<void> {
  await writeFile(join(directory, 'results.json'), `${JSON.stringify({ ...conditions, rows }, null, 2)}\n`)
  const page = join(directory, 'README.md')
  await writeFile(page, withTable(await readFile(page, 'utf8'), conditions, rows))
}

/** @throws when the page has lost the marks between which the table stands */
export function withTable(page: string, conditions: Conditions, rows: readonly Row[]): string {
  const [start, end] = [page.indexOf(marks.start), page.indexOf(marks.end)]
  if (start < 0 || end < start) throw new Error(`the page has no ${marks.start} … ${marks.end}`)
  const line = (cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`
  const shown = columns.filter(([title]) => title !== 'seed')
  const lines = [
    marks.start,
    `Seed ${conditions.seed}, ${conditions.startedAt.slice(0, 10)}, ${conditions.node}, ${conditions.cpus}.`,
    '',
    line(['', ...shown.map(([title]) => title)]),
    line(['---', ...shown.map(() => '---')]),
    ...rows.map(row => line([row.shows, ...shown.map(([, cell]) => cell(row))])),
    '',
  ]
  return page.slice(0, start) + lines.join('\n') + page.slice(end)
}
