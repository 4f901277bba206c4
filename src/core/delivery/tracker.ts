/**
 * How far one partition is done, for one assignment of it. Records are done in any order; only the end of the contiguous done prefix may be
 * committed, never the highest done. All operations are O(1) amortised, whatever the gaps between offsets.
 */
export class OffsetTracker {
  /** Offsets in the order in which they came, from the lowest open one on: a ring. */
  #ring = new Float64Array(64)
  #head = 0
  #length = 0
  readonly #open = new Set<number>()
  #received: number

  /** @param position the offset that is read first. */
  constructor(position: number) {
    this.#received = position
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
    return this.#length === 0 ? this.#received : (this.#ring[this.#head] as number)
  }

  /** What a crash now would read again at most, in offsets. */
  get span(): number {
    return this.#received - this.committable
  }

  /** @throws RangeError when the offset was already passed: offsets ascend, with gaps. */
  add(offset: number): void {
    if (offset < this.#received) throw new RangeError(`offset ${offset} added after ${this.#received - 1}`)
    if (this.#length === this.#ring.length) this.#grow()
    this.#ring[(this.#head + this.#length) % this.#ring.length] = offset
    this.#length++
    this.#open.add(offset)
    this.#received = offset + 1
  }

  /** @throws RangeError when the offset is not open: a record may be done only once. */
  done(offset: number): void {
    if (!this.#open.delete(offset)) throw new RangeError(`offset ${offset} done, but it is not open`)
    while (this.#length > 0 && !this.#open.has(this.committable)) {
      this.#head = (this.#head + 1) % this.#ring.length
      this.#length--
    }
  }

  /** Passes over a gap, as after the last record of a batch (compaction, transaction markers); a lower offset changes nothing. */
  advance(nextOffset: number): void {
    this.#received = Math.max(this.#received, nextOffset)
  }

  #grow(): void {
    const grown = new Float64Array(this.#ring.length * 2)
    grown.set(this.#ring.subarray(this.#head))
    grown.set(this.#ring.subarray(0, this.#head), this.#ring.length - this.#head)
    this.#ring = grown
    this.#head = 0
  }
}
