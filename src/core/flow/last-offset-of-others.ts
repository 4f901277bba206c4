/**
 * Answers whether a partition has a record for another destination than a given one, at or after a
 * given offset. Spillover asks this to find out whether a slow destination delays other
 * destinations. Two offsets for the whole partition are enough for the answer. A map with one
 * offset for each destination would cost a cache miss per look-up, with 1,000 destinations and many
 * partitions.
 */
export class LastOffsetOfOthers {
  #destination: string | undefined
  /** The highest offset that was added; `#destination` is the destination of its record. */
  #offset = -1
  /** The highest offset of a record for another destination than `#destination`. */
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

  /** Whether a record at `from` or a higher offset is for another destination. */
  hasRecordForOthers(destination: string, from: number): boolean {
    return (destination === this.#destination ? this.#ofOthers : this.#offset) >= from
  }
}
