const minCapacity = 8

/**
 * A queue in a ring buffer, with O(1) `push` and `shift`. The array never shrinks: a discarded
 * array would keep its items in memory until the array itself is garbage-collected.
 */
export class Fifo<Item> {
  /** The length of the array is a power of two, so that a bit mask can wrap positions. */
  #ring: (Item | undefined)[] = []
  #head = 0
  #length = 0

  get length(): number {
    return this.#length
  }

  push(item: Item): void {
    if (this.#length === this.#ring.length) this.#grow()
    this.#ring[this.#position(this.#length++)] = item
  }

  unshift(item: Item): void {
    if (this.#length === this.#ring.length) this.#grow()
    this.#head = this.#position(-1)
    this.#ring[this.#head] = item
    this.#length++
  }

  peek(): Item | undefined {
    return this.#length === 0 ? undefined : this.#ring[this.#head]
  }

  *[Symbol.iterator](): IterableIterator<Item> {
    for (let index = 0; index < this.#length; index++) yield this.#ring[this.#position(index)] as Item
  }

  shift(): Item | undefined {
    if (this.#length === 0) return undefined
    const item = this.#ring[this.#head]
    this.#ring[this.#head] = undefined
    this.#head = this.#position(1)
    this.#length--
    return item
  }

  #position(index: number): number {
    return (this.#head + index) & (this.#ring.length - 1)
  }

  #grow(): void {
    const grown = new Array<Item | undefined>(Math.max(minCapacity, this.#ring.length * 2)).fill(undefined)
    for (let index = 0; index < this.#length; index++) grown[index] = this.#ring[this.#position(index)]
    this.#ring = grown
    this.#head = 0
  }
}
