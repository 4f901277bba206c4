import { Fifo } from '../collections/fifo.ts'
import { LedgerCounts, type LedgerEntry, type LedgerResult } from '../ledger/ledger-counts.ts'
import { PartitionLedger } from '../ledger/partition-ledger.ts'
import type { PendingRecord } from '../ledger/write-ledger-record-chain.ts'
import {
  type CommitState,
  type EncodedState,
  encodeState,
  metadataLimit,
  metadataOf,
  parseCommit,
} from './commit-metadata.ts'
import { spanLimit } from './commit-metadata-span-limit.ts'
import { parseResults } from './ledger-in-commit-metadata.ts'
import type { PartlyDone } from './partly-done-records.ts'

/**
 * Minimum size of a ledger record in bytes, estimated from its counts. If a record would be
 * smaller, its counts stay in the commit metadata while the metadata has room for them.
 */
const minRecordBytes = 600

/** What a commit stores for a partition. */
export interface CommitPosition {
  readonly offset: number
  readonly metadata: string
}

/**
 * The encoded state of a partition. `text` is its commit metadata, or `undefined` if the counts of
 * the ledger do not fit into the metadata.
 */
type MadeState = EncodedState & { readonly text: string | undefined }

/** The ledger entries of a record that is done, and the hour for which they count. */
export interface RecordEntries {
  /** The hour of the event, in hours since 1970. */
  readonly hour: number
  readonly entries: readonly LedgerEntry[]
}

/**
 * Tracks which records of one partition are done, for one assignment of the partition. A record is
 * done when this process has nothing left to do for it: each of its deliveries succeeded, was
 * dropped, or was written to a retry or dead-letter topic. Records finish in any order, but the
 * committed offset must not pass a record in progress. So the metadata of the commit lists the done
 * records above the committed offset. For a record that is done for only some of its destinations,
 * the metadata lists these destinations, and the next owner of the partition skips them.
 *
 * Operations that do not read the metadata are O(1) amortised, even if there are large gaps between
 * offsets.
 */
export class OffsetTracker {
  /**
   * The offsets passed to `add`, in ascending order. The first one is the lowest offset in
   * progress.
   */
  readonly #offsets = new Fifo<number>()
  readonly #open = new Set<number>()
  /** Offsets of the records that an earlier owner finished and this process has not read yet. */
  readonly #doneBefore: Set<number>
  /**
   * The records that are done for only some of their destinations. The key is the offset of the
   * record. The value lists the destinations for which this process or an earlier owner of the
   * partition has finished it.
   */
  readonly #partlyDone: Map<number, string[]>
  #received: number
  /**
   * The last result of `#make`, the encoded state of the partition; `undefined` when the state has
   * changed since then.
   */
  #made: MadeState | undefined
  readonly #ledger: PartitionLedger | undefined
  /** The results of partly done records, by offset and destination. */
  readonly #results = new Map<number, Map<string, LedgerResult>>()
  /**
   * Ledger entries, by offset, of done records that are too far beyond the committed offset
   * (`spanLimit`) for the commit metadata. After a crash these records are delivered again, so
   * their entries are not counted yet.
   */
  readonly #farAhead = new Map<number, RecordEntries>()
  /**
   * A state of the partition that `position` can return if the present state does not fit into the
   * metadata: the state when the append of the last ledger record began (`startLedgerRecord`). That
   * record has all counts of this state, so the commit metadata (`text`) needs no counts. `text` is
   * `undefined` until Kafka has stored the record.
   *
   * `#sealed` is `undefined` if the ledger record lacks some counts, and after `position` has used
   * the state.
   */
  #sealed: (EncodedState & { text: string | undefined }) | undefined
  #position: CommitPosition

  /**
   * @param position the first offset to read: the committed offset of the partition.
   * @param metadata the metadata that was committed with this offset.
   * @param exactSince the first hour for which the partition's ledger is complete, if `metadata`
   * has no ledger; `undefined` for a partition without a ledger. If `metadata` has a ledger, the
   * earlier of its own first hour and `exactSince` counts.
   * @param maxRecordBytes the approximate maximum size of a ledger record. The default fits the
   * maximum record size of the ledger topic.
   */
  constructor(position: number, metadata = '', exactSince?: number, maxRecordBytes?: number) {
    this.#received = position
    this.#position = { offset: position, metadata }
    const { done, partlyDone, ledger } = parseCommit(position, metadata)
    this.#doneBefore = done
    this.#partlyDone = partlyDone
    if (exactSince === undefined) return
    this.#ledger = new PartitionLedger(ledger, exactSince, maxRecordBytes)
    if (ledger === undefined) return
    for (const [offset, destination, result] of parseResults(partlyDone, ledger.results))
      this.#noteResult(offset, destination, result)
  }

  /**
   * The next offset to read. It is higher than the offsets of all added records and all skipped
   * offsets.
   */
  get received(): number {
    return this.#received
  }

  /** The number of records in progress: those that were added and are not done. */
  get open(): number {
    return this.#open.size
  }

  /**
   * The offset to commit: the lowest offset in progress or, if no record is in progress, the next
   * offset to read.
   */
  get committable(): number {
    return this.#offsets.peek() ?? this.#received
  }

  /**
   * The number of offsets from `committable` up to `received`. After a crash, the next owner of the
   * partition reads at most these offsets again.
   */
  get span(): number {
    return this.#received - this.committable
  }

  /** The metadata that `position` returns. It is encoded again only after a change. */
  get metadata(): string {
    return this.position.metadata
  }

  /**
   * The offset to commit and its metadata. If the counts of the ledger do not fit into the
   * metadata, the result is an earlier offset with its metadata. The offset advances only when
   * counts have moved to a ledger record, so that no counts are lost (see `hasRoom`).
   */
  get position(): CommitPosition {
    const { committed, text } = this.#make()
    if (text !== undefined) {
      this.#sealed = undefined
      this.#position = { offset: committed, metadata: text }
    } else if (this.#sealed?.text !== undefined) {
      this.#position = { offset: this.#sealed.committed, metadata: this.#sealed.text }
      this.#sealed = undefined
    }
    return this.#position
  }

  /**
   * Whether the counts of the ledger fit into the commit metadata, so that `position` returns the
   * present state. If not, the caller must move counts to a ledger record (`startLedgerRecord`).
   */
  get hasRoom(): boolean {
    return this.#make().text !== undefined
  }

  /**
   * Whether counts must now move from the commit metadata to a ledger record: the metadata has no
   * room for them, or may have none at the next commit, 250 ms later.
   */
  get isLedgerDue(): boolean {
    const { text } = this.#make()
    if (text === undefined) return true
    return text.length > metadataLimit / 2 && (this.#ledger?.tail.counts.roughBytes ?? 0) > minRecordBytes
  }

  /**
   * Starts a ledger record with the counts that are in the metadata, as many as fit into one
   * record. The caller must append the record, and then call `ledgerStored` or `ledgerFailed`.
   * Returns `undefined` when there are no counts, or while an earlier record is being stored.
   */
  startLedgerRecord(): PendingRecord | undefined {
    const ledger = this.#ledger
    if (ledger === undefined || ledger.isStoring()) return undefined
    this.#made = undefined
    const state = this.#make()
    if (ledger.tail.counts.isEmpty) return undefined
    const record = ledger.start()
    this.#sealed = ledger.storesAll ? { ...state, text: undefined } : undefined
    return record
  }

  /** Whether this ledger record is being stored. False after `discardLedger`. */
  isStoring(record: PendingRecord): boolean {
    return this.#ledger?.isStoring(record) === true
  }

  /**
   * Notes the offset of a stored ledger record. Ignores a record whose counts `discardLedger` has
   * discarded.
   */
  ledgerStored(record: PendingRecord, offset: number): void {
    const ledger = this.#ledger
    if (ledger?.stored(record, offset) !== true) return
    if (this.#sealed !== undefined)
      this.#sealed.text = metadataOf(this.#sealed, { ...ledger.tail, counts: new LedgerCounts() })
    this.#made = undefined
  }

  ledgerFailed(record: PendingRecord): void {
    if (this.#ledger?.failed(record) === true) this.#sealed = undefined
  }

  /**
   * Discards the counts that no ledger record has, so that the present offset can be committed. All
   * hours before `exactSince` are then incomplete in the ledger.
   */
  discardLedger(exactSince: number): void {
    this.#ledger?.discard(exactSince)
    this.#sealed = undefined
    this.#made = undefined
  }

  /**
   * Offsets of the partly done records that do not fit into the metadata. The next owner of the
   * partition would deliver these records to every destination again.
   */
  get uncovered(): ReadonlySet<number> {
    this.#made = undefined
    return new Set(this.#make().uncovered)
  }

  /** The destinations for which a record in progress is already done; empty when there are none. */
  doneFor(offset: number): readonly string[] {
    return this.#partlyDone.get(offset) ?? none
  }

  /** The known results of a record in progress, at destinations for which it is already done. */
  resultsOf(offset: number): Iterable<readonly [destination: string, result: LedgerResult]> {
    return this.#results.get(offset) ?? none
  }

  /**
   * Notes that a record in progress is done for one destination, but not for all. It has no effect
   * when the record is not in progress.
   */
  partlyDone(offset: number, destination: string, result?: LedgerResult): void {
    if (!this.#open.has(offset)) return
    if (this.#ledger !== undefined && result !== undefined) this.#noteResult(offset, destination, result)
    const destinations = this.#partlyDone.get(offset)
    if (destinations === undefined) this.#partlyDone.set(offset, [destination])
    else destinations.push(destination)
    this.#made = undefined
  }

  /**
   * Whether the record at an offset is done, by this process or by an earlier owner of the
   * partition.
   */
  isDone(offset: number): boolean {
    return offset < this.#received ? !this.#open.has(offset) : this.#doneBefore.has(offset)
  }

  /**
   * Adds a record that was read. Returns false when an earlier owner of the partition finished the
   * record: the caller must skip it.
   * @throws RangeError when an earlier `add` or `advance` has passed the offset. Gaps are allowed.
   */
  add(offset: number): boolean {
    if (offset < this.#received) throw new RangeError(`offset ${offset} was added after offset ${this.#received - 1}`)
    this.#offsets.push(offset)
    this.#received = offset + 1
    if (this.#doneBefore.delete(offset)) {
      this.#passDone()
      return false
    }
    this.#open.add(offset)
    return true
  }

  /**
   * Notes that a record in progress is done for all its destinations.
   * @throws RangeError when the record is not in progress: a record can be done only once.
   */
  done(offset: number, counted?: RecordEntries): void {
    if (!this.#open.delete(offset)) throw new RangeError(`offset ${offset} is done, but was not in progress`)
    this.#partlyDone.delete(offset)
    this.#results.delete(offset)
    this.#made = undefined
    this.#passDone()
    if (this.#ledger === undefined || counted === undefined) return
    if (offset - this.committable < spanLimit) this.#ledger.add(counted.hour, counted.entries)
    else this.#farAhead.set(offset, counted)
  }

  /**
   * Skips all offsets below `nextOffset`, for example a gap after the last record of a batch
   * (compaction, transaction markers). A lower `nextOffset` has no effect.
   */
  advance(nextOffset: number): void {
    this.#received = Math.max(this.#received, nextOffset)
  }

  #passDone(): void {
    let lowest = this.#offsets.peek()
    while (lowest !== undefined && !this.#open.has(lowest)) {
      this.#offsets.shift()
      lowest = this.#offsets.peek()
    }
  }

  #noteResult(offset: number, destination: string, result: LedgerResult): void {
    const results = this.#results.get(offset)
    if (results === undefined) this.#results.set(offset, new Map([[destination, result]]))
    else results.set(destination, result)
  }

  #make(): MadeState {
    const from = this.committable
    if (this.#made?.committed === from) return this.#made
    this.#addFarAhead(from)
    const state: CommitState = {
      done: this.#doneAhead(),
      partlyDone: this.#partly(from),
      received: this.#received,
      resultOf: this.#ledger && ((offset, destination) => this.#results.get(offset)?.get(destination)),
    }
    const encoded = encodeState(from, state)
    this.#made = { ...encoded, text: metadataOf(encoded, this.#ledger?.tail) }
    return this.#made
  }

  /**
   * Adds the waiting ledger entries (`#farAhead`) to the ledger if the metadata of a commit at the
   * offset `from` can now describe their records.
   */
  #addFarAhead(from: number): void {
    for (const [offset, { hour, entries }] of this.#farAhead) {
      if (offset - from >= spanLimit) continue
      this.#ledger?.add(hour, entries)
      this.#farAhead.delete(offset)
    }
  }

  /**
   * Returns the partly done records in offset order. Removes records that were skipped without
   * being read, for example because retention had deleted them.
   */
  #partly(from: number): readonly PartlyDone[] {
    if (this.#partlyDone.size === 0) return none
    for (const offset of this.#partlyDone.keys())
      if (offset < from || (offset < this.#received && !this.#open.has(offset))) {
        this.#partlyDone.delete(offset)
        this.#results.delete(offset)
      }
    return [...this.#partlyDone].sort(([one], [other]) => one - other)
  }

  *#doneAhead(): Iterable<number> {
    yield* this.#doneBefore
    let left = this.#offsets.length - this.#open.size
    for (const offset of this.#offsets) {
      if (left === 0) return
      if (this.#open.has(offset)) continue
      left--
      yield offset
    }
  }
}

const none: readonly never[] = []
