import { toIsoTimestamp } from '../message/timestamp.ts'
import { epochMs } from '../time.ts'
import { emptyCell, hourMs, type LedgerCell, type LedgerCounts } from './ledger-counts.ts'

/** The counts of one destination for the events that were appended to Kafka in one hour. */
export interface LedgerRow {
  /** The start of the hour; ISO 8601, UTC. */
  readonly hour: string
  readonly destination: string
  readonly admitted: number
  readonly replayed: number
  /**
   * Deliveries that a crash doubled: a process appended a copy to a retry topic, but was killed
   * before the commit.
   */
  readonly repeated: number
  readonly delivered: number
  readonly deadLettered: number
  readonly dropped: number
  /** Deliveries that wait in a retry topic. */
  readonly waiting: number
  /**
   * Number of deliveries whose result is unknown. Absent when the counts of the hour are
   * incomplete.
   */
  readonly difference?: number | undefined
}

export type LedgerTotals = Omit<LedgerRow, 'hour' | 'destination'>

export interface LedgerParts {
  /** The sum of the counts in the commits of all partitions and in the ledger records. */
  readonly counts: LedgerCounts
  /**
   * Unfinished records in retry topics. `replayed` counts those that a replay or resend wrote,
   * `moved` all others.
   */
  readonly waiting: LedgerCounts
  /**
   * Whether all ledger records and all retry topics were read. If not, the rows have no
   * `difference`.
   */
  readonly isComplete: boolean
  /** The first hour whose counts are complete in all partitions, in hours since 1970. */
  readonly exactSince: number
}

export interface LedgerFilter {
  /** Hours since 1970. The filter includes `since`, but not `until`. */
  readonly since: number
  readonly until: number
  readonly destination?: string | undefined
}

export const isInFilter = (filter: LedgerFilter, destination: string, hour: number): boolean =>
  hour >= filter.since &&
  hour < filter.until &&
  (filter.destination === undefined || destination === filter.destination)

/** Returns the rows that the filter selects, unsorted. */
export function* ledgerRows(parts: LedgerParts, filter: LedgerFilter): Iterable<LedgerRow> {
  const { counts, waiting } = parts
  for (const [id, hour, cell] of counts.cells())
    if (isInFilter(filter, id, hour)) yield rowOf(parts, id, hour, cell, waiting.at(id, hour) ?? emptyCell)
  for (const [id, hour, cell] of waiting.cells())
    if (isInFilter(filter, id, hour) && counts.at(id, hour) === undefined) yield rowOf(parts, id, hour, emptyCell, cell)
}

function rowOf(
  parts: LedgerParts,
  destination: string,
  hour: number,
  ...cells: Parameters<typeof balanceOf>
): LedgerRow {
  const { difference, ...sums } = balanceOf(...cells)
  const isExact = parts.isComplete && hour >= parts.exactSince
  const named = { hour: toIsoTimestamp(epochMs(hour * hourMs)), destination }
  return { ...named, ...sums, ...(isExact && { difference }) }
}

/**
 * Computes the counts of a row. A positive `difference` shows lost records.
 * - `repeated`: the retry records that neither a commit counts as `moved` nor a replay or resend
 *   wrote.
 * - `routed`: the events that waited in a retry topic for a route. `admitted`, `replayed` or
 *   `repeated` counts each of these events twice, so `routed` is subtracted once from the sum of
 *   these three.
 */
function balanceOf(counted: LedgerCell, inTopics: LedgerCell): LedgerTotals & { readonly difference: number } {
  const operatorCopies = counted.replayed + inTopics.replayed
  const waiting = inTopics.moved + inTopics.replayed
  const repeatedCopies = Math.max(0, waiting + counted.taken - counted.moved - operatorCopies)
  const [admitted, replayed, repeated] = subtract(counted.routed, [counted.admitted, operatorCopies, repeatedCopies])
  const { delivered, dead_lettered: deadLettered, dropped } = counted
  const difference = admitted + replayed + repeated - delivered - deadLettered - dropped - waiting
  return { admitted, replayed, repeated, delivered, deadLettered, dropped, waiting, difference }
}

type Triple = readonly [number, number, number]

/**
 * Subtracts `count` from three numbers: from the first until it is 0, then from the second, and
 * then from the third.
 */
function subtract(count: number, [first, second, third]: Triple): Triple {
  const left = Math.max(0, count - first)
  return [Math.max(0, first - count), Math.max(0, second - left), Math.max(0, third - Math.max(0, left - second))]
}
