import { LedgerCounts, type LedgerEntry } from './ledger-counts.ts'
import { type PendingRecord, RecordChain } from './ledger-record-chain.ts'

/**
 * The part of a partition's ledger that is in the metadata of an offset commit. The tail and the
 * ledger records together count exactly what the commit marks as done.
 */
export interface LedgerTail {
  /** The first hour whose counts are complete, in hours since 1970. */
  readonly exactSince: number
  /** The offset of the newest ledger record of the partition. */
  readonly last: number | undefined
  /**
   * The newest hour, in hours since 1970, for which a ledger record of the partition has counts; 0
   * without ledger records.
   */
  readonly newestHour: number
  /** The counts that are in no ledger record yet. */
  readonly counts: LedgerCounts
}

/**
 * Maximum size of a ledger record in bytes, as `LedgerCounts.roughBytes` estimates it. The real
 * size can be three times as large, and the ledger topic accepts at most 1 MiB.
 */
const recordLimit = 256 * 1_024

/**
 * The ledger of one partition while this process owns it. Counts that are too large for a commit
 * move to a new ledger record, which the next commit names.
 *
 *   adding --start--> storing --stored--> adding (the next commit names the record)
 *                             --failed--> adding (the next commit still has all counts)
 */
export class PartitionLedger {
  #exactSince: number
  readonly #records: RecordChain
  /** The counts for the next commit, including those of a record that is being stored. */
  #counts: LedgerCounts
  /**
   * The ledger record that is being appended. `hasAll`: the record has all counts that `#counts`
   * had when the append began.
   */
  #storing: { readonly record: PendingRecord; readonly counts: LedgerCounts; readonly hasAll: boolean } | undefined
  readonly #maxRecordBytes: number

  /**
   * @param exactSince the first complete hour of a new ledger. It also replaces a later hour in
   *   `tail`, which comes from a wrong clock.
   */
  constructor(tail: LedgerTail | undefined, exactSince: number, maxRecordBytes = recordLimit) {
    this.#maxRecordBytes = maxRecordBytes
    this.#exactSince = Math.min(tail?.exactSince ?? exactSince, exactSince)
    this.#records = new RecordChain(tail?.last, tail?.newestHour ?? 0)
    this.#counts = tail?.counts ?? new LedgerCounts()
  }

  get tail(): LedgerTail {
    const { last, newestHour } = this.#records
    return { exactSince: this.#exactSince, last, newestHour, counts: this.#counts }
  }

  isStoring(record = this.#storing?.record): boolean {
    return record !== undefined && this.#storing?.record === record
  }

  get storesAll(): boolean {
    return this.#storing?.hasAll === true
  }

  add(hour: number, entries: readonly LedgerEntry[]): void {
    for (const { destination, field } of entries) this.#counts.add(destination, hour, field)
  }

  /**
   * Begins to store counts. The caller must append the returned record to the ledger topic, and
   * then call `stored` or `failed`.
   */
  start(): PendingRecord {
    const counts = this.#counts.copyPart(this.#maxRecordBytes)
    const hasAll = counts.roughBytes === this.#counts.roughBytes
    const record = this.#records.next(counts)
    this.#storing = { record, counts, hasAll }
    return record
  }

  /**
   * Notes that a ledger record is stored at `offset`. Returns false, and changes nothing, if
   * `discard` was called after `start`.
   */
  stored(record: PendingRecord, offset: number): boolean {
    if (this.#storing?.record !== record) return false
    this.#records.stored(record, offset)
    this.#counts.subtract(this.#storing.counts)
    this.#storing = undefined
    return true
  }

  /**
   * Notes that the append of a ledger record failed. Its counts stay in the commits. Returns false,
   * and changes nothing, if `discard` was called after `start`.
   */
  failed(record: PendingRecord): boolean {
    if (this.#storing?.record !== record) return false
    this.#records.failed()
    this.#storing = undefined
    return true
  }

  /**
   * Discards all counts that the next commit would store. The first complete hour is then at least
   * `exactSince`, and later than all hours of the discarded counts.
   */
  discard(exactSince: number): void {
    this.#exactSince = Math.max(this.#exactSince, exactSince, this.#counts.newestHour + 1)
    this.#counts = new LedgerCounts()
    this.#storing = undefined
  }
}
