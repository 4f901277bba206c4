import { Fifo } from '../collections/fifo.ts'
import { type CommitState, commitText, parseCommit, type StateText } from './commit-metadata.ts'
import type { PartlyDone } from './partly-done.ts'

/**
 * Tracks which records of one partition are done, for one assignment of the partition. A record is
 * done when this process has nothing left to do for it: each of its deliveries succeeded, was
 * dropped, or was written to a retry or dead-letter topic. Records finish in any order, but the
 * committed offset must not pass a record in progress. So the metadata of the commit lists the done
 * records above the committed offset. For a record that is done for only some of its destinations,
 * it lists these destinations. The next owner of the partition then delivers only to the others.
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
  /** Offsets that an earlier owner of the partition finished and this process has not read yet. */
  readonly #doneBefore: Set<number>
  /**
   * The records that are done for only some of their destinations: these destinations, by offset.
   * This process or an earlier owner of the partition has finished them.
   */
  readonly #partlyDone: Map<number, string[]>
  #received: number
  /**
   * The metadata that was last computed, with `from`, the committed offset that it belongs to.
   * `undefined` after a change of the state.
   */
  #made: (StateText & { readonly from: number }) | undefined

  /**
   * @param position the first offset to read, which is the committed one.
   * @param metadata the metadata that was committed with it.
   */
  constructor(position: number, metadata = '') {
    this.#received = position
    const { done, partlyDone } = parseCommit(position, metadata)
    this.#doneBefore = done
    this.#partlyDone = partlyDone
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
   * The offset to commit: the lowest one in progress, or the next one to read when none is in
   * progress.
   */
  get committable(): number {
    return this.#offsets.peek() ?? this.#received
  }

  /** The maximum number of offsets that are read again after a crash. */
  get span(): number {
    return this.#received - this.committable
  }

  /** The metadata for a commit of `committable`. It is cached until the state changes. */
  get metadata(): string {
    return this.#make().text
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

  /**
   * Notes that a record in progress is done for one destination, but not for all. It has no effect
   * when the record is not in progress.
   */
  partlyDone(offset: number, destination: string): void {
    if (!this.#open.has(offset)) return
    const destinations = this.#partlyDone.get(offset)
    if (destinations === undefined) this.#partlyDone.set(offset, [destination])
    else destinations.push(destination)
    this.#made = undefined
  }

  /** Whether the record at an offset is done, here or by an earlier owner. */
  isDone(offset: number): boolean {
    return offset < this.#received ? !this.#open.has(offset) : this.#doneBefore.has(offset)
  }

  /**
   * Adds a record. Returns false when an earlier owner finished it; the caller must skip it then.
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

  /** @throws RangeError when the record is not in progress: a record can be done only once. */
  done(offset: number): void {
    if (!this.#open.delete(offset)) throw new RangeError(`offset ${offset} is done, but was not in progress`)
    this.#partlyDone.delete(offset)
    this.#made = undefined
    this.#passDone()
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

  #make(): StateText {
    const from = this.committable
    if (this.#made?.from === from) return this.#made
    const state: CommitState = { done: this.#doneAhead(), partlyDone: this.#partly(from), received: this.#received }
    this.#made = { from, ...commitText(from, state) }
    return this.#made
  }

  /**
   * Returns the partly done records in offset order. Removes records that were skipped without
   * being read, for example because retention had deleted them.
   */
  #partly(from: number): readonly PartlyDone[] {
    if (this.#partlyDone.size === 0) return none
    for (const offset of this.#partlyDone.keys())
      if (offset < from || (offset < this.#received && !this.#open.has(offset))) this.#partlyDone.delete(offset)
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
