import { LedgerCounts, type LedgerEntry } from './ledger-counts.ts'
import { type PendingRecord, RecordChain } from './write-ledger-record-chain.ts'

/**
 * The part of a partition's ledger that is in the metadata of an offset commit. Together, this part
 * and the ledger records count exactly the records that are done according to the commit.
 */
export interface LedgerTail {
  /** The first hour whose counts are complete, in hours since 1970. */
  readonly exactSince: number
  /**
   * The offset of the newest ledger record of the partition; `undefined` when there is none. Each
   * ledger record names the one before it.
   */
  readonly last: number | undefined
  /**
   * The newest hour, in hours since 1970, for which a ledger record of the partition has counts; 0
   * when there are no ledger records.
   */
  readonly newestHour: number
  /** The counts that are in no ledger record yet. */
  readonly counts: LedgerCounts
}

/**
 * Maximum bytes of the counts that move from the commits to one ledger record, as estimated by
 * `LedgerCounts.roughBytes`. The ledger topic accepts records of 1 MiB, and large counts take up to
 * three times the estimate.
 */
const recordLimit = 256 * 1_024

/**
 * The ledger of one partition while this process owns it. Each commit contains the counts that are
 * in no ledger record, and the offset of the newest ledger record. So one commit makes both valid:
 * the results of the records, and their counts. When the counts need too many bytes in the commit,
 * they move to a new ledger record, and the next commit names this record. A ledger record that no
 * commit names is not counted.
 *
 *   adding --start--> storing --stored--> adding (the next commit names the record)
 *                             --failed--> adding (the next commit still has all counts)
 */
export class PartitionLedger {
  #exactSince: number
  readonly #records: RecordChain
  /**
   * The counts for the next commit. They include the counts of a record that is being stored, until
   * `stored` is called.
   */
  #counts: LedgerCounts
  /**
   * The ledger record that is being appended to the ledger topic, and its counts. `hasAll` is true
   * if the record has all counts that `#counts` had when the append began.
   */
  #storing: { readonly record: PendingRecord; readonly counts: LedgerCounts; readonly hasAll: boolean } | undefined
  readonly #maxRecordBytes: number

  /**
   * @param tail the ledger in the last commit; `undefined` when the commit has none.
   * @param exactSince the first hour whose counts are complete if the ledger begins at this commit.
   *   If `tail.exactSince` is later than this hour, it comes from a wrong clock, and is not used.
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

  /** Whether the given ledger record is being stored; without an argument, whether any is. */
  isStoring(record = this.#storing?.record): boolean {
    return record !== undefined && this.#storing?.record === record
  }

  /**
   * Whether the ledger record that is being stored has all counts that were in no ledger record
   * when `start` was called. If not, the next ledger record has the rest.
   */
  get storesAll(): boolean {
    return this.#storing?.hasAll === true
  }

  add(hour: number, entries: readonly LedgerEntry[]): void {
    for (const { destination, field } of entries) this.#counts.add(destination, hour, field)
  }

  /**
   * Returns the next ledger record. The caller must append it to the ledger topic, and then call
   * `stored` or `failed`.
   */
  start(): PendingRecord {
    const counts = this.#counts.copy(this.#maxRecordBytes)
    const hasAll = counts.roughBytes === this.#counts.roughBytes
    const record = this.#records.next(counts)
    this.#storing = { record, counts, hasAll }
    return record
  }

  /**
   * Notes that a ledger record is stored at `offset`, so that the next commit names it. Returns
   * false, and changes nothing, if `discard` was called after `start`: no commit names the record
   * then.
   */
  stored(record: PendingRecord, offset: number): boolean {
    if (this.#storing?.record !== record) return false
    this.#records.stored(record, offset)
    this.#counts.subtract(this.#storing.counts)
    this.#storing = undefined
    return true
  }

  /**
   * Notes that a ledger record could not be appended. Its counts remain in the commits. Returns
   * false, and changes nothing, if `discard` was called after `start`.
   */
  failed(record: PendingRecord): boolean {
    if (this.#storing?.record !== record) return false
    this.#records.failed()
    this.#storing = undefined
    return true
  }

  /**
   * Discards the counts that are in no ledger record: they do not fit into the commit, and could
   * not be stored in time. After that, all hours before `exactSince` are incomplete, and so are all
   * hours up to the newest hour of the discarded counts.
   */
  discard(exactSince: number): void {
    this.#exactSince = Math.max(this.#exactSince, exactSince, this.#counts.newestHour + 1)
    this.#counts = new LedgerCounts()
    this.#storing = undefined
  }
}
