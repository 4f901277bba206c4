/**
 * The last offset of a partition that has a record for another destination than a given one. It
 * keeps two numbers instead of one per destination: with 1,000 destinations and many partitions, a
 * map would cost a cache miss for each look-up.
 */
export class LastRouted {
  #destination: string | undefined
  /** The highest offset of all destinations; `#destination` is the destination of this record. */
  #offset = -1
  /** The highest offset of all destinations except `#destination`. */
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

  /** Whether a record from this offset on was for another destination. */
  hasOthersThan(destination: string, from: number): boolean {
    return (destination === this.#destination ? this.#ofOthers : this.#offset) >= from
  }
}
