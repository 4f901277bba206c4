import { type LedgerCounts, readLedgerCounts } from './ledger-counts.ts'

/** A ledger record to append. */
export interface PendingRecord {
  /** The offset of the previous record of the partition; `undefined` for the first one. */
  readonly previousOffset: number | undefined
  /** The newest hour of the previous record and of those before it; 0 without one. */
  readonly hourBefore: number
  readonly value: Buffer
  /** The newest hour of this record and of those before it. */
  readonly newestHour: number
  /** The number of records of this owner that the record replaces. */
  readonly absorbed: number
}

/**
 * A record absorbs previous ones when it can replace this number of records of about the same size.
 * With fewer, each count would be written again more often; with more, the chain would be longer.
 */
const mergedRecords = 8
/** Maximum rough bytes of a record that absorbs others: about 15,000 destinations and hours. */
const maxRoughBytes = 512 * 1024

/**
 * The ledger records of one partition. Each names the one before it, and a commit names the last
 * one. A new record can absorb the previous ones of the same owner: it contains their counts, and
 * names the record before them. The absorbed records stay in the topic, because a commit may still
 * name them.
 */
export class RecordChain {
  #last: number | undefined
  #newestHour: number
  /** The records of this owner that the next one can absorb. */
  #recent: PendingRecord[] = []

  /** The arguments are those of the last commit: see `LedgerTail`. */
  constructor(last: number | undefined, newestHour: number) {
    this.#last = last
    this.#newestHour = newestHour
  }

  /** The offset of the last record. */
  get last(): number | undefined {
    return this.#last
  }

  /** The newest hour of all records; 0 without one. */
  get newestHour(): number {
    return this.#newestHour
  }

  /** The record that contains these counts, and those of the previous records that it absorbs. */
  next(counts: LedgerCounts): PendingRecord {
    let sum = counts
    let absorbed = 0
    for (const { value } of this.#recent.slice(this.#firstDue(counts)).toReversed()) {
      const both = readLedgerCounts({ bytes: value, at: 0 }) as LedgerCounts
      both.merge(sum)
      if (both.roughBytes > maxRoughBytes) {
        this.#recent = this.#recent.slice(this.#recent.length - absorbed)
        break
      }
      sum = both
      absorbed++
    }
    const first = absorbed === 0 ? undefined : this.#recent.at(-absorbed)
    const { previousOffset, hourBefore } = first ?? { previousOffset: this.#last, hourBefore: this.#newestHour }
    const bytes: number[] = []
    sum.write(bytes)
    const newestHour = Math.max(hourBefore, sum.newestHour)
    return { previousOffset, hourBefore, value: Buffer.from(bytes), newestHour, absorbed }
  }

  /** The index of the oldest recent record that the next one absorbs. */
  #firstDue(counts: LedgerCounts): number {
    let first = this.#recent.length
    let newer = counts.roughBytes
    for (const [index, { value }] of [...this.#recent.entries()].toReversed()) {
      if (value.length * (mergedRecords - 1) <= newer) first = index
      newer += value.length
    }
    return first
  }

  stored(record: PendingRecord, offset: number): void {
    this.#recent.length -= record.absorbed
    this.#recent.push(record)
    this.#last = offset
    this.#newestHour = record.newestHour
  }

  /** The next record absorbs none, so that a record that is too large for the broker is not retried. */
  failed(): void {
    this.#recent = []
  }
}
