/** An item of a priority queue. It can be in only one queue at a time. */
export interface PriorityQueueItem {
  position: number
}

/** A binary heap. Items are added and removed in O(log n). */
export class PriorityQueue<Item extends PriorityQueueItem> {
  readonly #items: Item[] = []
  readonly #isBefore: (one: Item, other: Item) => boolean

  constructor(isBefore: (one: Item, other: Item) => boolean) {
    this.#isBefore = isBefore
  }

  get first(): Item | undefined {
    return this.#items[0]
  }

  add(item: Item): void {
    this.#rise(item, this.#items.length)
  }

  /**
   * Removes an item, which must be in this queue. Its priority must not have changed since it was
   * added.
   */
  remove(item: Item): void {
    const last = this.#items.pop() as Item
    if (last === item) return
    this.#sink(last, item.position)
    this.#rise(last, last.position)
  }

  #rise(item: Item, from: number): void {
    let at = from
    while (at > 0) {
      const parent = this.#items[(at - 1) >> 1] as Item
      if (!this.#isBefore(item, parent)) break
      this.#put(parent, at)
      at = (at - 1) >> 1
    }
    this.#put(item, at)
  }

  #sink(item: Item, from: number): void {
    let at = from
    for (;;) {
      const child = this.#firstChild(at)
      if (child === undefined || !this.#isBefore(child, item)) break
      const next = child.position
      this.#put(child, at)
      at = next
    }
    this.#put(item, at)
  }

  #firstChild(at: number): Item | undefined {
    const left = this.#items[2 * at + 1]
    const right = this.#items[2 * at + 2]
    return left !== undefined && right !== undefined && this.#isBefore(right, left) ? right : left
  }

  #put(item: Item, at: number): void {
    this.#items[at] = item
    item.position = at
  }
}
