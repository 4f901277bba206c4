/**
 * Finds out whether a partition has, at or after a given offset, a record for any destination other
 * than a given one. Keeps only two offsets, because a map of all destinations would cost cache
 * misses.
 */
export class LastOffsetOfOthers {
  #destination: string | undefined
  /** The highest offset of a record for `#destination`. */
  #offset = -1
  /** The highest offset of a record that is not for `#destination`. */
  #ofOthers = -1

  /**
   * Adds a record for `destination`. Offsets may come in any order, because a record that waits for
   * its schema is routed after later records.
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

  hasRecordForOthers(destination: string, from: number): boolean {
    return (destination === this.#destination ? this.#ofOthers : this.#offset) >= from
  }
}
