import type { LogRecord } from '../ports.ts'
import { type LedgerCounts, readLedgerCounts } from './ledger-counts.ts'
import type { LedgerTail } from './partition-ledger.ts'
import type { PendingRecord } from './record-chain.ts'

/** A record of the ledger topic: results of one partition. */
export interface LedgerRecord {
  /** The offset of the partition's previous ledger record; `undefined` for the first one. */
  readonly previousOffset: number | undefined
  /** The newest hour of that record and of those before it; 0 without one. */
  readonly hourBefore: number
  readonly counts: LedgerCounts
}

/** The headers of a ledger record. */
export const ledgerHeaders = ({ previousOffset, hourBefore }: PendingRecord): Readonly<Record<string, string>> =>
  previousOffset === undefined ? {} : { 'previous-offset': String(previousOffset), 'hour-before': String(hourBefore) }

const isWhole = (text: string | undefined): text is string => text !== undefined && /^\d{1,15}$/.test(text)

/** Parses a record of the ledger topic; `undefined` when another program wrote it. */
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
  /** Records whose hours are all before this one are not read. In hours since 1970. */
  readonly since: number
  /** Reads the partition's record at an offset. `expired`: it is before the first one in Kafka. */
  readonly recordAt: (offset: number) => Promise<LedgerRecord | 'expired' | undefined>
  readonly onCounts: (counts: LedgerCounts) => void
}

/**
 * Reads the ledger records of one partition that its last commit names, directly or through other
 * records. No other record counts: its writer was killed before the commit, or did not own the
 * partition. Resolves with false when a record is missing, but true when the retention of the topic
 * deleted it.
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
    // A record names an earlier one. An older topic with the same name had the later one.
    if (record.hourBefore >= since && (record.previousOffset ?? -1) >= at) return false
    at = record.previousOffset
    newestHour = record.hourBefore
  }
  return true
}
