import { noDestination } from '../core/delivery/dead-letter.ts'
import { type ReplayRefusal, replayRefusals } from '../core/delivery/replay-target.ts'
import type { ReplayReport, ReplayRow } from '../services/operator/replay-dead-letters.ts'
import { printable, tableOf } from './terminal.ts'

type Report = ReplayReport & { readonly total: number }

const titles = ['COUNT', 'DESTINATION', 'REASON', 'GOES TO']

/** A row for each kind of dead letter and its way, and a last line with the sums. */
export function linesOf(report: Report, dryRun: boolean): readonly string[] {
  const rows = report.rows.toSorted((a, b) => b.count - a.count || (textOf(a) < textOf(b) ? -1 : 1)).map(rowOf)
  return [...(rows.length === 0 ? [] : tableOf(titles, rows)), sumsOf(report, dryRun)]
}

const rowOf = ({ count, destination, reason, way }: ReplayRow): readonly string[] => [
  String(count),
  destination ?? noDestination,
  reason || '-',
  'topic' in way ? way.topic : `stays: ${way.refusal}`,
]

/** Settles what the count does not, so that two runs show the same order. */
const textOf = (row: ReplayRow): string => rowOf(row).join(' ')

/** `12 dead letters, 10 selected, 9 put back` */
function sumsOf(report: Report, dryRun: boolean): string {
  const { total, replayed, end } = report
  const { selected, refused } = countsOf(report)
  if (total === 0) return 'no dead letters'
  return [
    `${total} dead letter${total === 1 ? '' : 's'}`,
    end.kind === 'done' ? `${selected} selected` : `${selected} selected so far`,
    dryRun ? `${selected - refused} would be put back` : `${replayed} put back`,
  ].join(', ')
}

/** Of those that were looked at, how many are selected, and how many of these stay. */
export function countsOf({ rows }: ReplayReport): { readonly selected: number; readonly refused: number } {
  return { selected: sum(rows), refused: sum(rows.filter(({ way }) => 'refusal' in way)) }
}

/** As `--json` prints it. `byReason` and `byDestination` count those selected, `byTopic` where they go, `refused` why they stay. */
export function documentOf(report: Report, dryRun: boolean): object {
  const { total, rows, replayed, end } = report
  return {
    dryRun,
    end: end.kind,
    total,
    selected: sum(rows),
    replayed,
    byReason: sums(rows, ({ reason }) => reason),
    byDestination: sums(rows, ({ destination }) => destination ?? noDestination),
    byTopic: sums(rows, ({ way }) => ('topic' in way ? way.topic : undefined)),
    refused: sums(rows, ({ way }) => ('refusal' in way ? way.refusal : undefined)),
  }
}

const sum = (rows: readonly ReplayRow[]): number => rows.reduce((all, { count }) => all + count, 0)

/** Rows for which there is no name are left out. */
function sums(rows: readonly ReplayRow[], nameOf: (row: ReplayRow) => string | undefined): Record<string, number> {
  const names = Map.groupBy(rows, nameOf)
  return Object.fromEntries([...names].flatMap(([name, of]) => (name === undefined ? [] : [[name, sum(of)]])))
}

/** Why those stay that stay, and what can be done about it: a line for each reason. */
export function hintsOf({ rows }: ReplayReport): readonly string[] {
  return replayRefusals.flatMap(refusal => {
    const refused = rows.filter(({ way }) => 'refusal' in way && way.refusal === refusal)
    if (refused.length === 0) return []
    const destinations = new Set(refused.map(({ destination }) => destination ?? noDestination))
    return printable(`${sum(refused)} stay: ${hints[refusal]([...destinations].sort().join(', '))}`)
  })
}

const hints: Readonly<Record<ReplayRefusal, (destinations: string) => string>> = {
  unknown_destination: destinations =>
    `not in the configuration: ${destinations}; configured again, they can be put back`,
  disabled: destinations =>
    `switched off, so that they would be dropped: ${destinations}; with enabled: true they can be put back`,
  not_connected: destinations =>
    `their source is not connected to their destination any more: ${destinations}; with --even-disconnected they are replayed all the same`,
  truncated: () =>
    'too large for the dead-letter topic, which has only their first 64 KiB; their ORIGIN in hookline dead-letters is the place of the whole record',
  unreadable: () => 'their headers do not tell what they were; see: hookline dead-letters --json',
}
