import { countWithNoun } from '../core/count-with-noun.ts'
import { noDestination } from '../core/delivery/parse-dead-letter.ts'
import { type ReplayRefusal, replayRefusals } from '../core/delivery/replay-decision.ts'
import type { ReplayReport, ReplayRow } from '../services/operator/replay-dead-letters.ts'
import { printable, tableOf } from './terminal-table-and-progress-bar.ts'

type Report = ReplayReport & { readonly total: number }

const titles = ['COUNT', 'DESTINATION', 'REASON', 'TARGET']

/** A table with a row for each destination, reason and target, and a line with the totals. */
export function linesOf(report: Report, dryRun: boolean): readonly string[] {
  const rows = report.rows.toSorted((a, b) => b.count - a.count || (textOf(a) < textOf(b) ? -1 : 1)).map(rowOf)
  return [...(rows.length === 0 ? [] : tableOf(titles, rows)), sumsOf(report, dryRun)]
}

const rowOf = ({ count, destination, reason, target }: ReplayRow): readonly string[] => [
  String(count),
  destination ?? noDestination,
  reason || '-',
  'topic' in target ? target.topic : `not replayed: ${target.refusal}`,
]

/** The text that decides the order of rows with equal counts. */
const textOf = (row: ReplayRow): string => rowOf(row).join(' ')

/** The totals, for example `12 dead letters, 10 selected, 9 replayed`. */
function sumsOf(report: Report, dryRun: boolean): string {
  const { total, replayed, end } = report
  const { selected, refused } = countsOf(report)
  if (total === 0) return 'no dead letters'
  return [
    countWithNoun(total, 'dead letter'),
    end.kind === 'done' ? `${selected} selected` : `${selected} selected so far`,
    dryRun ? `${selected - refused} would be replayed` : `${replayed} replayed`,
  ].join(', ')
}

/** How many dead letters are selected, and how many of these cannot be replayed. */
export function countsOf({ rows }: ReplayReport): { readonly selected: number; readonly refused: number } {
  return { selected: sum(rows), refused: sum(rows.filter(({ target }) => 'refusal' in target)) }
}

/**
 * The JSON document of a replay. `byTopic` counts the dead letters that can be replayed, `refused`
 * those that cannot.
 */
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
    byTopic: sums(rows, ({ target }) => ('topic' in target ? target.topic : undefined)),
    refused: sums(rows, ({ target }) => ('refusal' in target ? target.refusal : undefined)),
  }
}

const sum = (rows: readonly ReplayRow[]): number => rows.reduce((all, { count }) => all + count, 0)

/** Sums the counts of the rows for each name from `nameOf`. Rows without a name are skipped. */
function sums(rows: readonly ReplayRow[], nameOf: (row: ReplayRow) => string | undefined): Record<string, number> {
  const names = Map.groupBy(rows, nameOf)
  return Object.fromEntries([...names].flatMap(([name, of]) => (name === undefined ? [] : [[name, sum(of)]])))
}

/** One line for each reason why dead letters were not replayed, with advice. */
export function hintsOf({ rows }: ReplayReport): readonly string[] {
  return replayRefusals.flatMap(refusal => {
    const refused = rows.filter(({ target }) => 'refusal' in target && target.refusal === refusal)
    if (refused.length === 0) return []
    const destinations = new Set(refused.map(({ destination }) => destination ?? noDestination))
    const hint = hints[refusal]([...destinations].sort().join(', '))
    return printable(`${countWithNoun(sum(refused), 'dead letter')} not replayed, because ${hint}`)
  })
}

const hints: Readonly<Record<ReplayRefusal, (destinations: string) => string>> = {
  unknown_destination: destinations =>
    `the destination is not in the configuration: ${destinations}; add it again, then run the replay again`,
  disabled: destinations => `the destination is disabled: ${destinations}; enable it, then run the replay again`,
  not_connected: destinations =>
    `the source is no longer connected to the destination: ${destinations}; use --even-disconnected to replay anyway`,
  deletion_expired: () =>
    'these dead letters belong to old user deletions, and cannot be replayed; delete the users again with: hookline delete-user',
  truncated: () =>
    'the dead-letter topic has only the first 64 KiB of the original record; read the whole record at the topic, partition and offset in the column ORIGIN of `hookline dead-letters`',
  unreadable: () =>
    'the headers are invalid, or the event cannot be decoded; to see these dead letters, run: hookline dead-letters --json',
  too_large: () =>
    'they are larger than `max.message.bytes` of their target topic (--dry-run shows this topic); raise `max.message.bytes` of the topic, for example to 2097152, then run the replay again',
}
