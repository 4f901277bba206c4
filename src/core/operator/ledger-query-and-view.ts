import type { LedgerFilter, LedgerRow, LedgerTotals } from '../ledger/ledger-balance-rows.ts'
import { hourMs, hourOf } from '../ledger/ledger-counts.ts'
import { durationMs, type EpochMs, epochMs } from '../time.ts'
import type { ShownProblem } from './object-refusal.ts'
import { type QueryRead, timeIn, unknownParameters } from './query-parameters-and-object-page.ts'

/** How far back a query may begin. The ledger topic keeps records for twice this time. */
export const maxLedgerAge = durationMs(7 * 24 * hourMs)
const defaultHours = 24

/**
 * Reads the query parameters of the ledger. `since` and `until` are times, or durations before now;
 * the hours that contain them are included.
 */
export function ledgerQueryOf(given: Readonly<Record<string, unknown>>, now: EpochMs): QueryRead<LedgerFilter> {
  const problems: ShownProblem[] = [...unknownParameters(given, ['since', 'until', 'destination'])]
  const [first, last] = (['since', 'until'] as const).map(name => timeIn(given, name, now))
  for (const read of [first, last])
    if (read?.problem !== undefined && problems.length === 0) problems.push(read.problem)
  const until = last?.time ?? now
  const since = first?.time ?? epochMs(Math.min(until, now) - (defaultHours - 1) * hourMs)
  if (problems.length === 0 && since > until)
    problems.push({
      path: 'since',
      message: 'must not be later than "until"',
      hint: 'use an earlier "since" or a later "until"',
    })
  if (problems.length === 0 && since < now - maxLedgerAge)
    problems.push(
      first?.time === undefined
        ? {
            path: 'until',
            message:
              'is too early: without "since", the list begins 23 hours before "until", and this start is more than 7 days ago',
            hint: 'use a later "until", or add a "since" that is at most 7 days ago',
          }
        : { path: 'since', message: 'is more than 7 days ago', hint: 'use a time in the last 7 days' },
    )
  const destination = given['destination'] as string | undefined
  if (problems.length === 0 && destination === '')
    problems.push({
      path: 'destination',
      message: 'must not be empty',
      hint: 'use the id of a destination, or "-" for events without a destination',
    })
  if (problems.length > 0) return { kind: 'invalid', problems }
  return { kind: 'query', query: { since: hourOf(since), until: hourOf(until) + 1, destination } }
}

/** The ledger as the operator API shows it. */
export interface LedgerView {
  /** When the ledger was read; ISO 8601, UTC. */
  readonly at: string
  /** The beginning of the first hour, and the end of the last hour. */
  readonly since: string
  readonly until: string
  /** Present when not all records were read, or the view does not show all rows. */
  readonly partial?: true | undefined
  /** The beginning of the first complete hour, if earlier hours are incomplete. */
  readonly exactSince?: string | undefined
  readonly totals: LedgerTotals
  readonly rows: readonly LedgerRow[]
}

export type ReadLedger = (filter: LedgerFilter) => Promise<LedgerView>
