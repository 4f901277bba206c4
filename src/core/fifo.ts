/** A queue with O(1) push and shift; an array's own `shift` moves every element. */
export class Fifo<Item> {
  #items: (Item | undefined)[] = []
  #head = 0

  get length(): number {
    return this.#items.length - this.#head
  }

  push(item: Item): void {
    this.#items.push(item)
  }

  /** Puts an item back at the front. */
  unshift(item: Item): void {
    if (this.#head === 0) this.#items.unshift(item)
    else this.#items[--this.#head] = item
  }

  /** The next one, which stays. */
  peek(): Item | undefined {
    return this.#items[this.#head]
  }

  *[Symbol.iterator](): IterableIterator<Item> {
    for (let index = this.#head; index < this.#items.length; index++) yield this.#items[index] as Item
  }

  shift(): Item | undefined {
    if (this.#head === this.#items.length) return undefined
    const item = this.#items[this.#head]
    this.#items[this.#head++] = undefined
    if (this.#head === this.#items.length) {
      this.#items = []
      this.#head = 0
    } else if (this.#head > 1024 && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head)
      this.#head = 0
    }
    return item
  }
}
