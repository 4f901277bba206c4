/**
 * The last offset of a partition with a record for any destination other than a given one. It keeps
 * two numbers, not one per destination: with 1,000 destinations and many partitions, most look-ups
 * would miss the cache.
 */
export class LastRouted {
  #destination: string | undefined
  /** The highest of all, which was this destination's. */
  #offset = -1
  /** The highest of all but this destination's. */
  #ofOthers = -1

  /** A record is for this destination. In any order: one that waits for its schema is routed late. */
  add(offset: number, destination: string): void {
    if (destination === this.#destination) {
      this.#offset = Math.max(this.#offset, offset)
    } else if (offset >= this.#offset) {
      this.#ofOthers = this.#offset
      this.#offset = offset
      this.#destination = destination
    } else {
      this.#ofOthers = Math.max(this.#ofOthers, offset)
    }
  }

  /** Whether any from this offset on was for another destination than this one. */
  hasOthersThan(destination: string, from: number): boolean {
    return (destination === this.#destination ? this.#ofOthers : this.#offset) >= from
  }
}
