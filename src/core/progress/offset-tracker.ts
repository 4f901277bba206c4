import { Fifo } from '../collections/fifo.ts'
import { LedgerCounts, type LedgerEntry, type LedgerResult } from '../ledger/ledger-counts.ts'
import type { PendingRecord } from '../ledger/ledger-record-chain.ts'
import { PartitionLedger } from '../ledger/partition-ledger.ts'
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
import type { PartlyDone } from './partly-done-records-in-commit-metadata.ts'

/**
 * Minimum size of a ledger record, in bytes. Counts below this size stay in the commit metadata
 * while they fit.
 */
const minRecordBytes = 600

/** What a commit stores for a partition. */
export interface CommitPosition {
  readonly offset: number
  readonly metadata: string
}

/** `text` is the commit metadata; `undefined` if the counts of the ledger do not fit. */
type MadeState = EncodedState & { readonly text: string | undefined }

export interface RecordEntries {
  /** The hour of the event, in hours since 1970. */
  readonly hour: number
  readonly entries: readonly LedgerEntry[]
}

/**
 * Tracks which records of one partition are done, for one assignment. The committed offset must not
 * pass a record in progress. So the commit metadata lists the done records above the committed
 * offset, and the finished destinations of partly done records.
 */
export class OffsetTracker {
  /** The added offsets, ascending. The first one is the lowest offset in progress. */
  readonly #offsets = new Fifo<number>()
  readonly #inProgress = new Set<number>()
  /** Offsets of records that an earlier owner finished and that this process has not read yet. */
  readonly #doneBefore: Set<number>
  /**
   * By the offset of a record: the destinations for which this process or an earlier owner has
   * finished the record.
   */
  readonly #partlyDone: Map<number, string[]>
  #received: number
  /** The last result of `#make`; `undefined` after a change. */
  #made: MadeState | undefined
  readonly #ledger: PartitionLedger | undefined
  /** Results of partly done records, by offset and destination. */
  readonly #results = new Map<number, Map<string, LedgerResult>>()
  /**
   * Ledger entries, by offset, of done records at least `spanLimit` above the committed offset. The
   * commit metadata cannot contain these records. After a crash they are delivered again, so the
   * ledger does not count them yet.
   */
  readonly #farAhead = new Map<number, RecordEntries>()
  /**
   * The state at the last `startLedgerRecord`. `text` is set when Kafka has the ledger record. From
   * then on, `position` returns this state while the present state does not fit into the metadata.
   */
  #sealed: (EncodedState & { text: string | undefined }) | undefined
  #position: CommitPosition

  /**
   * @param position the committed offset, with its `metadata`
   * @param exactSince the first hour with a complete ledger, unless `metadata` has an earlier one
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

  /** The next offset to read. */
  get received(): number {
    return this.#received
  }

  get inProgressCount(): number {
    return this.#inProgress.size
  }

  /** The offset to commit: the lowest offset in progress, or the next offset to read. */
  get committable(): number {
    return this.#offsets.peek() ?? this.#received
  }

  /** The number of offsets that the next owner would read again after a crash. */
  get offsetSpan(): number {
    return this.#received - this.committable
  }

  get metadata(): string {
    return this.position.metadata
  }

  /**
   * The offset and metadata to commit. While the counts of the ledger do not fit into the metadata,
   * returns an earlier position, because a commit without the counts would lose them.
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
   * Whether the counts of the ledger fit into the commit metadata. If not, call
   * `startLedgerRecord`.
   */
  get hasRoomForLedger(): boolean {
    return this.#make().text !== undefined
  }

  /**
   * Whether counts must move to a ledger record, because they do not fit into the commit metadata,
   * or may not fit at the next commit.
   */
  get isLedgerDue(): boolean {
    const { text } = this.#make()
    if (text === undefined) return true
    return text.length > metadataLimit / 2 && (this.#ledger?.tail.counts.roughBytes ?? 0) > minRecordBytes
  }

  /**
   * Creates a ledger record with as many counts as the record can hold. The caller must append it,
   * then call `ledgerStored` or `ledgerFailed`. Returns `undefined` if the ledger has no counts, or
   * while an earlier record is being stored.
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

  isStoring(record: PendingRecord): boolean {
    return this.#ledger?.isStoring(record) === true
  }

  /**
   * Notes the offset of a stored ledger record. Ignores a record whose counts were discarded
   * (`discardLedger`).
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
   * Discards the counts that are in no ledger record, so that the present offset can be committed.
   * The counts of hours before `exactSince` become incomplete.
   */
  discardLedger(exactSince: number): void {
    this.#ledger?.discard(exactSince)
    this.#sealed = undefined
    this.#made = undefined
  }

  /**
   * Offsets of partly done records that do not fit into the metadata: the next owner would deliver
   * them again to every destination.
   */
  get uncovered(): ReadonlySet<number> {
    this.#made = undefined
    return new Set(this.#make().uncovered)
  }

  doneFor(offset: number): readonly string[] {
    return this.#partlyDone.get(offset) ?? none
  }

  /** The known results of a record in progress, by destination. */
  resultsOf(offset: number): Iterable<readonly [destination: string, result: LedgerResult]> {
    return this.#results.get(offset) ?? none
  }

  /** Notes that a record in progress is done for one destination, but not for all. */
  partlyDone(offset: number, destination: string, result?: LedgerResult): void {
    if (!this.#inProgress.has(offset)) return
    if (this.#ledger !== undefined && result !== undefined) this.#noteResult(offset, destination, result)
    const destinations = this.#partlyDone.get(offset)
    if (destinations === undefined) this.#partlyDone.set(offset, [destination])
    else destinations.push(destination)
    this.#made = undefined
  }

  /** Whether this process or an earlier owner has finished the record at an offset. */
  isDone(offset: number): boolean {
    return offset < this.#received ? !this.#inProgress.has(offset) : this.#doneBefore.has(offset)
  }

  /**
   * Notes that a record is in progress. Returns false when an earlier owner finished the record:
   * the caller must skip it.
   * @throws RangeError when an earlier `add` or `advance` has passed the offset
   */
  add(offset: number): boolean {
    if (offset < this.#received)
      throw new RangeError(
        `got offset ${offset} after offset ${this.#received - 1}: the offsets of a partition must increase`,
      )
    this.#offsets.push(offset)
    this.#received = offset + 1
    if (this.#doneBefore.delete(offset)) {
      this.#passDone()
      return false
    }
    this.#inProgress.add(offset)
    return true
  }

  /**
   * Notes that a record is done for all its destinations.
   * @throws RangeError when the record is not in progress
   */
  done(offset: number, counted?: RecordEntries): void {
    if (!this.#inProgress.delete(offset)) throw new RangeError(`offset ${offset} is done, but was not in progress`)
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
   * (compaction, transaction markers).
   */
  advance(nextOffset: number): void {
    this.#received = Math.max(this.#received, nextOffset)
  }

  #passDone(): void {
    let lowest = this.#offsets.peek()
    while (lowest !== undefined && !this.#inProgress.has(lowest)) {
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

  /** Moves the entries of `#farAhead` for offsets below `from` + `spanLimit` to the ledger. */
  #addFarAhead(from: number): void {
    for (const [offset, { hour, entries }] of this.#farAhead) {
      if (offset - from >= spanLimit) continue
      this.#ledger?.add(hour, entries)
      this.#farAhead.delete(offset)
    }
  }

  /**
   * Returns the partly done records in offset order, without records that were skipped, for example
   * because retention deleted them.
   */
  #partly(from: number): readonly PartlyDone[] {
    if (this.#partlyDone.size === 0) return none
    for (const offset of this.#partlyDone.keys())
      if (offset < from || (offset < this.#received && !this.#inProgress.has(offset))) {
        this.#partlyDone.delete(offset)
        this.#results.delete(offset)
      }
    return [...this.#partlyDone].sort(([one], [other]) => one - other)
  }

  *#doneAhead(): Iterable<number> {
    yield* this.#doneBefore
    let left = this.#offsets.length - this.#inProgress.size
    for (const offset of this.#offsets) {
      if (left === 0) return
      if (this.#inProgress.has(offset)) continue
      left--
      yield offset
    }
  }
}

const none: readonly never[] = []
