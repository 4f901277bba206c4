const minCapacity = 8

/**
 * A first-in, first-out queue in a ring buffer, with `push` and `shift` in O(1). The ring buffer
 * never shrinks: each replaced array would keep its items alive until it is garbage-collected.
 */
export class Fifo<Item> {
  /** Its length is a power of two, so that a mask wraps positions. */
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
