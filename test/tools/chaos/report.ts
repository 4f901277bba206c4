import type { Row } from './scenario-run.ts'

const seconds = (ms: number | null): string => (ms === null ? '–' : (ms / 1_000).toFixed(1))
const orNever = (ms: number | null): string => (ms === null ? 'never' : seconds(ms))

/** Columns of a row, for the table in a terminal and for the page. */
export const columns: readonly (readonly [title: string, cell: (row: Row) => string | number])[] = [
  ['scenario', row => row.name],
  ['seed', row => row.seed],
  ['faults', row => row.faults.length],
  ['sent', row => row.sent],
  ['delivered', row => row.delivered],
  ['waiting', row => row.waiting],
  ['dead-lettered', row => row.deadLettered],
  ['lost', row => row.lost],
  ['duplicated', row => row.duplicates],
  // Older published rows do not have these figures.
  ['by sender', row => row.duplicated?.bySender ?? '–'],
  ['in progress', row => row.duplicated?.inProgress ?? '–'],
  ['ours', row => row.duplicated?.ours ?? '–'],
  // A run that judges the order and has no pairs fails, so 0 means that the order was not judged.
  ['ordered pairs', row => row.orderedPairs || '–'],
  ['reversed', row => (row.orderedPairs ? row.reversed : '–')],
  ['recovery s', row => orNever(row.recoveryMs)],
  ['latest s', row => seconds(row.latestMs)],
  ['unready s', row => seconds(row.unreadyMs ?? null)],
  ['pause s', row => seconds(row.pauseMs)],
  ['refused', ({ intake }) => intake?.refused ?? '–'],
  ['unanswered', ({ intake }) => intake?.broken ?? '–'],
  ['answer s', ({ intake }) => seconds(intake?.answerMs ?? null)],
  ['accepts s', ({ intake }) => (intake === null ? '–' : orNever(intake.acceptedMs))],
  ['MB', ({ intake }) => intake?.peakMb ?? '–'],
  ['verdict', row => (row.failures.length === 0 ? 'holds' : 'FAILS')],
]

/**
 * Returns a table for a terminal with one line per scenario, and below it the reasons of failures.
 */
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

/**
 * Computes a cell of the summary table, which has a row for each kind of fault. `rows` has the
 * results of the fault's scenarios that were run. `of` is the number of all its scenarios.
 */
type MatrixCell = (rows: readonly Row[], of: number) => string | number

const ifAny =
  (cell: (rows: readonly Row[]) => string | number): MatrixCell =>
  rows =>
    rows.length === 0 ? '–' : cell(rows)
const sum = (number: (row: Row) => number): MatrixCell => ifAny(rows => rows.reduce((all, row) => all + number(row), 0))

export const matrixColumns: readonly (readonly [title: string, cell: MatrixCell])[] = [
  ['faults', sum(row => row.faults.length)],
  ['sent', sum(row => row.sent)],
  ['lost', sum(row => row.lost)],
  ['duplicated', sum(row => row.duplicates)],
  [
    'slowest recovery s',
    ifAny(rows => {
      const times = rows.map(row => row.recoveryMs)
      return times.includes(null) ? 'never' : seconds(Math.max(...(times as number[])))
    }),
  ],
  [
    'verdict',
    (rows, of) => {
      if (rows.length === 0) return 'not run'
      const verdict = rows.every(row => row.failures.length === 0) ? 'holds' : 'FAILS'
      return rows.length === of ? verdict : `${verdict} (${rows.length} of ${of} run)`
    },
  ],
]
