import type { Row } from './scenario-run.ts'

const seconds = (ms: number | null): string => (ms === null ? '–' : (ms / 1_000).toFixed(1))
const orNever = (ms: number | null): string => (ms === null ? 'never' : seconds(ms))

export interface Column {
  readonly title: string
  readonly meaning: string
  readonly cell: (row: Row) => string | number
}

const deliveryColumns: readonly Column[] = [
  { title: 'faults', meaning: 'number of faults that the scenario caused', cell: row => row.faults.length },
  {
    title: 'sent',
    meaning: 'deliveries that must arrive: one for each accepted message and destination',
    cell: row => row.sent,
  },
  { title: 'delivered', meaning: 'deliveries of *sent* that arrived, each counted once', cell: row => row.delivered },
  {
    title: 'waiting',
    meaning: 'deliveries that are still in a retry topic at the end. Must be 0',
    cell: row => row.waiting,
  },
  {
    title: 'dead-lettered',
    meaning:
      'deliveries that Hookline has stored as permanently failed, and that are not replayed. Must be 0, because every endpoint recovers. In `dead-letter-unwritable`, an endpoint rejects messages, so the number is above 0. In `jobs-killed`, the messages that an endpoint rejects are replayed. Invalid records are not counted',
    cell: row => row.deadLettered,
  },
  {
    title: 'lost',
    meaning:
      'deliveries of *sent* that are neither delivered nor waiting nor dead-lettered. Must be 0, except in `retention`, where Kafka deletes unread records. Each of these records counts as two lost deliveries, because there are two destinations',
    cell: row => row.lost,
  },
  {
    title: 'duplicated',
    meaning: 'deliveries of a message to a destination after the first one. The next table has their causes',
    cell: row => row.duplicates,
  },
  {
    title: 'recovery s',
    meaning:
      'the longest time from a fault, or from the end of an outage, until every affected partition delivers a message that was sent later. For a new process, the time from its start to its first delivery. For a collector that fails, the time from the fault to the first delivery of a message that another collector accepted',
    cell: row => orNever(row.recoveryMs),
  },
  {
    title: 'slowest delivery s',
    meaning:
      'the longest time from the acknowledgement of a message to its delivery, including waits in retry topics. Must be within a limit of the scenario',
    cell: row => seconds(row.latestMs),
  },
]

const causeColumns: readonly Column[] = [
  {
    title: 'by sender',
    meaning:
      'duplicates because the program that writes to Kafka (for example a collector) got no response, and wrote the message again. Must be 0 if the fault does not affect this program. Otherwise the scenario has a limit',
    // Rows that were published earlier do not have `duplicated`.
    cell: row => row.duplicated?.bySender ?? '–',
  },
  {
    title: 'in progress',
    meaning:
      'duplicates because a process was killed or frozen before it had committed the offset of the delivery. `make chaos` checks the message, process and time of each of these. There may be at most 300 per killed or frozen process, on average',
    cell: row => row.duplicated?.inProgress ?? '–',
  },
  {
    title: 'other cause',
    meaning:
      'all other duplicates. Must be 0 in scenarios that only restart, kill, add or reconfigure processes. Other scenarios have a limit',
    cell: row => row.duplicated?.ours ?? '–',
  },
  {
    title: 'checked pairs',
    meaning:
      'pairs of consecutive messages of one user to one destination whose order was checked. The first attempt for the later message must begin after the first attempt for the earlier one has ended. Messages that were deferred (postponed) before any attempt are not checked. A request that was in progress when its process was killed or frozen does not count if another process repeated it',
    // In a run that passed, 0 means that the order was not judged.
    cell: row => row.orderedPairs || '–',
  },
  {
    title: 'reversed',
    meaning: 'checked pairs in the wrong order. Must be 0',
    cell: row => (row.orderedPairs ? row.reversed : '–'),
  },
  {
    title: 'not ready s',
    meaning:
      'the longest time for which `/readyz` of a process failed after it had succeeded. Must be within a limit of the scenario',
    cell: row => seconds(row.unreadyMs ?? null),
  },
  {
    title: 'pause s',
    meaning:
      'the longest time between two deliveries of a partition that stayed with its process while other processes joined or left',
    cell: row => seconds(row.pauseMs),
  },
]

/** Columns about the collectors. Only scenarios with messages over HTTP have these figures. */
const intakeColumns: readonly Column[] = [
  {
    title: 'refused',
    meaning:
      'messages that a collector answered with 503 and `Retry-After`. Permitted only during an outage of Kafka. Must be above 0 in `collector-kafka-down`, `collector-link-half-open` and `answers-lost`',
    cell: ({ intake }) => intake?.refused ?? '–',
  },
  {
    title: 'unanswered',
    meaning: 'messages whose connection broke before a response. Permitted only if the collector was killed',
    cell: ({ intake }) => intake?.broken ?? '–',
  },
  {
    title: 'slowest response s',
    meaning: 'the longest time from a request to its response',
    cell: ({ intake }) => seconds(intake?.answerMs ?? null),
  },
  {
    title: 'accepts again s',
    meaning: 'the longest time from a fault, or from the end of an outage, to the next 200 of a collector',
    cell: ({ intake }) => (intake === null ? '–' : orNever(intake.acceptedMs)),
  },
  {
    title: 'memory MB',
    meaning: 'the highest resident memory of one collector',
    cell: ({ intake }) => intake?.peakMb ?? '–',
  },
]

const verdict: Column = {
  title: 'verdict',
  meaning: '`holds` if all conditions of the scenario were true, otherwise `FAILS`',
  cell: row => (row.failures.length === 0 ? 'holds' : 'FAILS'),
}

/** The tables of the page. `isFor` selects the scenarios that have the figures of a table. */
export const pageTables: readonly {
  readonly title: string
  readonly columns: readonly Column[]
  readonly isFor: (row: Row) => boolean
}[] = [
  { title: 'Deliveries', columns: [...deliveryColumns, verdict], isFor: () => true },
  { title: 'Duplicates, order and pauses', columns: causeColumns, isFor: () => true },
  { title: 'Collectors', columns: intakeColumns, isFor: ({ intake }) => intake !== null },
]

const columns: readonly Pick<Column, 'title' | 'cell'>[] = [
  { title: 'scenario', cell: row => row.name },
  { title: 'seed', cell: row => row.seed },
  ...[...deliveryColumns, ...causeColumns, ...intakeColumns, verdict],
]

/** Returns a table for a terminal with one line per scenario, and below it the failures. */
export function table(rows: readonly Row[]): readonly string[] {
  const cells = [columns.map(({ title }) => title), ...rows.map(row => columns.map(({ cell }) => String(cell(row))))]
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

/** `rows`: the results of a fault. `of`: the number of its scenarios, with or without a result. */
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
