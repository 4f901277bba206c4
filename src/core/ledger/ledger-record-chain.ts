import { type LedgerCounts, readLedgerCounts } from './ledger-counts.ts'

/** A ledger record that is not yet appended to the ledger topic. */
export interface PendingRecord {
  /** The offset of the previous ledger record of the partition; `undefined` for the first one. */
  readonly previousOffset: number | undefined
  /**
   * The newest hour in any earlier ledger record of the partition, in hours since 1970; 0 for the
   * first record.
   */
  readonly hourBefore: number
  readonly value: Buffer
  /** The newest hour in this or any earlier ledger record of the partition, in hours since 1970. */
  readonly newestHour: number
  /** The number of earlier ledger records whose counts this record contains and replaces. */
  readonly absorbed: number
}

/**
 * Number of ledger records of similar size that become one. Lower numbers cause more writes, higher
 * ones more reads.
 */
const mergedRecords = 8
/**
 * Maximum bytes of the counts in a ledger record that includes the counts of earlier records, as
 * estimated by `LedgerCounts.roughBytes`.
 */
const maxRoughBytes = 512 * 1024

/**
 * The ledger records of a partition. Each record names the previous record, and a commit names the
 * newest record. To save reads, a new record can absorb the newest records: it contains their
 * counts. The absorbed records stay in the topic, because an earlier commit may still name them.
 */
export class RecordChain {
  #last: number | undefined
  #newestHour: number
  /** The records that this process has stored, and that a new record may absorb, oldest first. */
  #recent: PendingRecord[] = []

  /** The arguments are fields of the last commit's `LedgerTail`. */
  constructor(last: number | undefined, newestHour: number) {
    this.#last = last
    this.#newestHour = newestHour
  }

  /** The offset of the newest stored ledger record. */
  get last(): number | undefined {
    return this.#last
  }

  get newestHour(): number {
    return this.#newestHour
  }

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

  /** The index in `#recent` of the oldest record to absorb; the length of `#recent` for none. */
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

  /**
   * Notes that the append of a record has failed. The next record does not include the counts of
   * earlier records, because the broker may have refused the failed record for its size.
   */
  failed(): void {
    this.#recent = []
  }
}
