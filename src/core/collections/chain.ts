/** What can stand in a chain, in one at a time. Its place is kept in itself: an object for each would be as many as there are calls under way. */
export interface Chained<Item> {
  before: Item | undefined
  after: Item | undefined
}

/**
 * Items in the order in which they came, any of which is taken off in O(1). A `Set` would do the same, but each time that it makes itself a
 * new table the old one goes on holding what it held: once that table is old, each of its items outlives two more collections.
 */
export class Chain<Item extends Chained<Item>> {
  #first: Item | undefined
  #last: Item | undefined
  #size = 0

  get size(): number {
    return this.#size
  }

  /** Puts an item at the end. It must be in no chain. */
  add(item: Item): void {
    item.before = this.#last
    if (this.#last === undefined) this.#first = item
    else this.#last.after = item
    this.#last = item
    this.#size++
  }

  /** Once for each item, which must be one of this chain. */
  remove(item: Item): void {
    const { before, after } = item
    if (before === undefined) this.#first = after
    else before.after = after
    if (after === undefined) this.#last = before
    else after.before = before
    item.before = undefined
    item.after = undefined
    this.#size--
  }

  /** The one that it is at may be removed meanwhile, and no other: it would end there. */
  *[Symbol.iterator](): IterableIterator<Item> {
    for (let item = this.#first; item !== undefined; ) {
      const { after } = item
      yield item
      item = after
    }
  }
}
