/**
 * Knows, for any destination, up to which offset a partition has records for other destinations. It
 * keeps two offsets, not one for each destination: with 1,000 destinations and many partitions,
 * each look-up in a map would cost a cache miss.
 */
export class LastOffsetOfOthers {
  #destination: string | undefined
  /** The highest offset that was added; `#destination` is the destination of its record. */
  #offset = -1
  /** The highest offset of a record for another destination than `#destination`. */
  #ofOthers = -1

  /**
   * Notes a record for a destination. Offsets may come in any order: a record that waits for its
   * schema is routed late.
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
