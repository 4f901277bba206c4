import { LedgerCounts, type LedgerEntry } from './ledger-counts.ts'
import { type PendingRecord, RecordChain } from './record-chain.ts'

/**
 * The ledger in the metadata of a commit. It counts exactly the records that are done by this commit.
 */
export interface LedgerTail {
  /** The first hour whose counts are complete, in hours since 1970. */
  readonly exactSince: number
  /**
   * The offset of the last ledger record of the partition; `undefined` before the first one. The
   * record names the one before it, and so on.
   */
  readonly last: number | undefined
  /** The newest hour of all these records; 0 without one. */
  readonly newestHour: number
  /** The results that no ledger record has yet. */
  readonly counts: LedgerCounts
}

/**
 * Maximum size of a ledger record, as `LedgerCounts.roughBytes` estimates it. A topic accepts 1 MiB;
 * large counts take up to three times the estimate.
 */
const recordLimit = 256 * 1_024

/**
 * The results of one partition, for one assignment. Each commit contains the results that no ledger
 * record has, and the position of the last record. So results count exactly together with the
 * commit that makes them final. When they take too much room, they move to a new ledger record; the
 * next commit names it. A record that no commit names does not count.
 *
 *   adding --start--> storing --stored--> adding (the commit names the record)
 *                             --failed--> adding (the commit still has all results)
 */
export class PartitionLedger {
  #exactSince: number
  readonly #records: RecordChain
  /** The results that no named record has, including those of a record that is being stored. */
  #counts: LedgerCounts
  /** The record that is being stored, its results, and whether these were all results. */
  #storing: { readonly record: PendingRecord; readonly counts: LedgerCounts; readonly hasAll: boolean } | undefined
  readonly #maxRecordBytes: number

  /**
   * @param tail that of the last commit; `undefined` when it has none.
   * @param exactSince the first hour that is complete when the ledger begins at this commit. A tail
   * has a later hour only if a clock was wrong, so that hour is not used.
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

  /** Whether this record is being stored, or any record. */
  isStoring(record = this.#storing?.record): boolean {
    return record !== undefined && this.#storing?.record === record
  }

  /** Whether the record that is being stored has all results. If not, the next one has the rest. */
  get storesAll(): boolean {
    return this.#storing?.hasAll === true
  }

  add(hour: number, entries: readonly LedgerEntry[]): void {
    for (const { destination, field } of entries) this.#counts.add(destination, hour, field)
  }

  /** Returns the record to append; call `stored` or `failed` later. */
  start(): PendingRecord {
    const counts = this.#counts.copy(this.#maxRecordBytes)
    const hasAll = counts.roughBytes === this.#counts.roughBytes
    const record = this.#records.next(counts)
    this.#storing = { record, counts, hasAll }
    return record
  }

  /**
   * Notes the offset of a stored record. Returns false when its results were discarded before; no
   * commit then names it.
   */
  stored(record: PendingRecord, offset: number): boolean {
    if (this.#storing?.record !== record) return false
    this.#records.stored(record, offset)
    this.#counts.subtract(this.#storing.counts)
    this.#storing = undefined
    return true
  }

  /** Returns false when the results of the record were discarded before. */
  failed(record: PendingRecord): boolean {
    if (this.#storing?.record !== record) return false
    this.#records.failed()
    this.#storing = undefined
    return true
  }

  /**
   * Discards the results that no record has. Only hours from `exactSince` on, and after those of the
   * discarded results, are complete then.
   */
  discard(exactSince: number): void {
    this.#exactSince = Math.max(this.#exactSince, exactSince, this.#counts.newestHour + 1)
    this.#counts = new LedgerCounts()
    this.#storing = undefined
  }
}
