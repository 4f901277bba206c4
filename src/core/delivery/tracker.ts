import { Fifo } from '../fifo.ts'
import { doneAheadText, parseDoneAhead } from './done-ahead.ts'

/**
 * How far one partition is done, for one assignment of it. Records are done in any order; only the end of the contiguous done prefix may be
 * committed, never the highest done. What is done beyond it goes into the commit's metadata, so that after a crash only the rest comes again.
 * All operations but `metadata` are O(1) amortised, whatever the gaps between offsets.
 */
export class OffsetTracker {
  /** In the order in which they came, from the lowest open one on. */
  readonly #offsets = new Fifo<number>()
  readonly #open = new Set<number>()
  /** Done by whoever had the partition before us, and not read again yet. */
  readonly #doneBefore: Set<number>
  #received: number
  /** The metadata as last made, and the position that it goes with; undefined once something was done since. */
  #made: { readonly from: number; readonly text: string } | undefined

  /**
   * @param position the offset that is read first: the committed one.
   * @param metadata what was committed with it.
   */
  constructor(position: number, metadata = '') {
    this.#received = position
    this.#doneBefore = parseDoneAhead(position, metadata)
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
    const from = this.committable
    if (this.#made?.from !== from) this.#made = { from, text: doneAheadText(from, this.#doneAhead()) }
    return this.#made.text
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
