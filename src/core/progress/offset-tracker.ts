import { Fifo } from '../collections/fifo.ts'
import { type CommitState, commitText, parseCommit, type StateText } from './commit-state.ts'
import type { PartlyDone } from './partly-done.ts'

/**
 * How far one partition is done, for one assignment of it. Records are done in any order; only the end of the contiguous done prefix may be
 * committed, never the highest done. What is done beyond it goes into the commit's metadata, and so does which destinations are done for a
 * record that others still wait for: the next owner makes only the rest. All operations but those that make metadata are O(1) amortised,
 * whatever the gaps between offsets.
 */
export class OffsetTracker {
  /** In the order in which they came, from the lowest open one on. */
  readonly #offsets = new Fifo<number>()
  readonly #open = new Set<number>()
  /** Done by whoever had the partition before us, and not read again yet. */
  readonly #doneBefore: Set<number>
  /** The done destinations of records that are not done, here or by an earlier owner of the partition. */
  readonly #partlyDone: Map<number, string[]>
  #received: number
  /** The metadata as last made, and the position that it goes with; undefined once something was done since. */
  #made: (StateText & { readonly from: number }) | undefined

  /**
   * @param position the offset that is read first: the committed one.
   * @param metadata what was committed with it.
   */
  constructor(position: number, metadata = '') {
    this.#received = position
    const { done, partlyDone } = parseCommit(position, metadata)
    this.#doneBefore = done
    this.#partlyDone = partlyDone
  }

  /** The next offset to read: beyond everything added and every gap advanced over. */
  get received(): number {
    return this.#received
  }

  /** How many records are added and not done. */
  get open(): number {
    return this.#open.size
  }

  /** The lowest offset that is not done; when nothing is open, the next offset to read. */
  get committable(): number {
    return this.#offsets.peek() ?? this.#received
  }

  /** What a crash now would read again at most, in offsets. */
  get span(): number {
    return this.#received - this.committable
  }

  /** The metadata for a commit of `committable`: what is done beyond it. Made anew only after something was done. */
  get metadata(): string {
    return this.#make().text
  }

  /** Partly done records that the metadata has no room for: their next owner would deliver them to every destination again. */
  get uncovered(): ReadonlySet<number> {
    this.#made = undefined
    return new Set(this.#make().uncovered)
  }

  /** The destinations that need nothing more of a record that is not done. */
  doneFor(offset: number): readonly string[] {
    return this.#partlyDone.get(offset) ?? none
  }

  /** A destination needs nothing more of a record, others do. Nothing happens when the record is not open. */
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
   * Returns false when the record was done before it was ours: then nothing is to be done with it.
   * @throws RangeError when the offset was already passed: offsets ascend, with gaps.
   */
  add(offset: number): boolean {
    if (offset < this.#received) throw new RangeError(`offset ${offset} added after ${this.#received - 1}`)
    this.#offsets.push(offset)
    this.#received = offset + 1
    if (this.#doneBefore.delete(offset)) {
      this.#passDone()
      return false
    }
    this.#open.add(offset)
    return true
  }

  /** @throws RangeError when the offset is not open: a record may be done only once. */
  done(offset: number): void {
    if (!this.#open.delete(offset)) throw new RangeError(`offset ${offset} done, but it is not open`)
    this.#partlyDone.delete(offset)
    this.#made = undefined
    this.#passDone()
  }

  /** Passes over a gap, as after the last record of a batch (compaction, transaction markers); a lower offset changes nothing. */
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

  /** In offset order. What was passed over without being read (retention) is forgotten. */
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
