/**
 * Tells whether a slow destination delays others: whether a partition, from a given offset on, has
 * a record that is not for this destination. Spillover (moving deliveries from memory to a retry
 * topic) needs the answer. Two offsets for the whole partition are enough: the highest one, and the
 * highest one of a record for another destination than the record at the first. A map with one
 * offset for each destination would be slower: with 1,000 destinations and many partitions, each
 * look-up would cost a cache miss.
 */
export class LastOffsetOfOthers {
  #destination: string | undefined
  /** The highest offset that was added; `#destination` is the destination of its record. */
  #offset = -1
  /** The highest offset of a record that is not for `#destination`. */
  #ofOthers = -1

  /**
   * Notes that the record at an offset is for a destination. Offsets may come in any order: a
   * record that waits for its schema is routed after later records.
   */
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

  /** Whether a record at `from` or a higher offset is not for `destination`. */
  hasRecordForOthers(destination: string, from: number): boolean {
    return (destination === this.#destination ? this.#ofOthers : this.#offset) >= from
  }
}
