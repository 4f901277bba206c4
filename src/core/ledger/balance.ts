import { toIsoTimestamp } from '../message/timestamp.ts'
import { epochMs } from '../time.ts'
import { emptyCell, hourMs, type LedgerCell, type LedgerCounts } from './ledger-counts.ts'

/** The deliveries of one destination whose events were appended in one hour. */
export interface LedgerRow {
  /** The start of the hour; ISO 8601, UTC. */
  readonly hour: string
  readonly destination: string
  readonly admitted: number
  /** Deliveries that an operator started again, from dead letters or from the log. */
  readonly replayed: number
  /** Copies that a process appended before it was killed; the next process made them again. */
  readonly repeated: number
  readonly delivered: number
  readonly deadLettered: number
  readonly dropped: number
  /** Records in the retry topics. */
  readonly waiting: number
  /**
   * admitted + replayed + repeated - delivered - deadLettered - dropped - waiting. Absent when a
   * part of the counts was not read.
   */
  readonly difference?: number | undefined
}

export type LedgerTotals = Omit<LedgerRow, 'hour' | 'destination'>

export interface LedgerParts {
  /** The counts of all commits. */
  readonly counts: LedgerCounts
  /**
   * The records after the commits of the retry topics: `replayed` those that an operator wrote,
   * `moved` all others.
   */
  readonly waiting: LedgerCounts
  /** Whether everything was read. */
  readonly isComplete: boolean
  /** The first complete hour, in hours since 1970. */
  readonly exactSince: number
}

export interface LedgerFilter {
  /** Hours since 1970; `until` is excluded. */
  readonly since: number
  readonly until: number
  readonly destination?: string | undefined
}

/** Whether a filter includes the counts of a destination and hour. */
export const isInFilter = (filter: LedgerFilter, destination: string, hour: number): boolean =>
  hour >= filter.since &&
  hour < filter.until &&
  (filter.destination === undefined || destination === filter.destination)

/** The rows, in no order. */
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
 * A record that is in no ledger's `moved` was written by an operator, or by a process that was
 * killed before its commit. A record that was moved, and is neither taken nor in a retry topic, is
 * lost: it makes a difference.
 *
 * Routed events leave the row of `-`. They are subtracted from `admitted`, and beyond it from
 * `replayed` and `repeated`: a copy of an event that waits is routed too.
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

/** Subtracts `count` from the first number, what is left from the second, and then from the third. */
function subtract(count: number, [first, second, third]: Triple): Triple {
  const left = Math.max(0, count - first)
  return [Math.max(0, first - count), Math.max(0, second - left), Math.max(0, third - Math.max(0, left - second))]
}
