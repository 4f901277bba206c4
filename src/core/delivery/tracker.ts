import { doneAheadText, parseDoneAhead } from './done-ahead.ts'

/**
 * How far one partition is done, for one assignment of it. Records are done in any order; only the end of the contiguous done prefix may be
 * committed, never the highest done. What is done beyond it goes into the commit's metadata, so that after a crash only the rest comes again.
 * All operations but `metadata` are O(1) amortised, whatever the gaps between offsets.
 */
export class OffsetTracker {
  /** Offsets in the order in which they came, from the lowest open one on: a ring. */
  #ring = new Float64Array(64)
  #head = 0
  #length = 0
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
    return this.#length === 0 ? this.#received : this.#at(0)
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
    if (this.#length === this.#ring.length) this.#grow()
    this.#ring[(this.#head + this.#length) % this.#ring.length] = offset
    this.#length++
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

  #at(index: number): number {
    return this.#ring[(this.#head + index) % this.#ring.length] as number
  }

  #passDone(): void {
    while (this.#length > 0 && !this.#open.has(this.#at(0))) {
      this.#head = (this.#head + 1) % this.#ring.length
      this.#length--
    }
  }

  *#doneAhead(): Iterable<number> {
    yield* this.#doneBefore
    let left = this.#length - this.#open.size
    for (let index = 1; left > 0; index++) {
      const offset = this.#at(index)
      if (this.#open.has(offset)) continue
      left--
      yield offset
    }
  }

  #grow(): void {
    const grown = new Float64Array(this.#ring.length * 2)
    grown.set(this.#ring.subarray(this.#head))
    grown.set(this.#ring.subarray(0, this.#head), this.#ring.length - this.#head)
    this.#ring = grown
    this.#head = 0
  }
}
