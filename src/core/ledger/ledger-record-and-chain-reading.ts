import type { LogRecord } from '../ports.ts'
import { type LedgerCounts, readLedgerCounts } from './ledger-counts.ts'
import type { PendingRecord } from './ledger-record-chain.ts'
import type { LedgerTail } from './partition-ledger.ts'

/**
 * A record of the ledger topic: counts of one partition of the events topic or of a retry topic.
 */
export interface LedgerRecord {
  /** The offset of the previous ledger record of this partition; `undefined` for the first one. */
  readonly previousOffset: number | undefined
  /**
   * The newest hour in any earlier ledger record of the partition, in hours since 1970; 0 for the
   * first record.
   */
  readonly hourBefore: number
  readonly counts: LedgerCounts
}

/** The headers of a ledger record. The first record of a partition has none. */
export const ledgerHeaders = ({ previousOffset, hourBefore }: PendingRecord): Readonly<Record<string, string>> =>
  previousOffset === undefined ? {} : { 'previous-offset': String(previousOffset), 'hour-before': String(hourBefore) }

const isWhole = (text: string | undefined): text is string => text !== undefined && /^\d{1,15}$/.test(text)

/** Parses a record of the ledger topic; `undefined` when it is malformed. */
export function parseLedgerRecord({ value, headers }: Pick<LogRecord, 'value' | 'headers'>): LedgerRecord | undefined {
  const { 'previous-offset': previous, 'hour-before': hourBefore } = headers
  const counts = value === null ? undefined : readLedgerCounts({ bytes: value, at: 0 })
  if (counts === undefined) return undefined
  if (previous === undefined) return { previousOffset: undefined, hourBefore: 0, counts }
  return isWhole(previous) && isWhole(hourBefore)
    ? { previousOffset: Number(previous), hourBefore: Number(hourBefore), counts }
    : undefined
}

export interface ChainReading {
  /** The first hour that is needed, in hours since 1970. */
  readonly since: number
  /**
   * Reads a ledger record. `expired`: Kafka's retention has deleted it. `undefined`: it cannot be
   * read.
   */
  readonly recordAt: (offset: number) => Promise<LedgerRecord | 'expired' | undefined>
  readonly onCounts: (counts: LedgerCounts) => void
}

/**
 * Reads a partition's ledger records from the newest to the oldest: each record names the previous
 * one. Records outside of this chain do not count, because no commit leads to them. Resolves with
 * false if a record is unreadable, unless Kafka's retention has deleted it.
 */
export async function readChain(
  tail: Omit<LedgerTail, 'counts'>,
  { since, recordAt, onCounts }: ChainReading,
): Promise<boolean> {
  let at = tail.last
  let newestHour = tail.newestHour
  while (at !== undefined && newestHour >= since) {
    const record = await recordAt(at)
    if (record === 'expired') return true
    if (record === undefined) return false
    onCounts(record.counts)
    // If the previous offset is not lower than `at`, the previous record was in a deleted topic of
    // the same name, so its counts are missing.
    if (record.hourBefore >= since && (record.previousOffset ?? -1) >= at) return false
    at = record.previousOffset
    newestHour = record.hourBefore
  }
  return true
}
