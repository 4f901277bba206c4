/** An item has the links itself, so it can be in only one list at a time. */
export interface LinkedListItem<Item> {
  before: Item | undefined
  after: Item | undefined
}

/**
 * A doubly linked list with removal in O(1). Unlike a `Set`, it has no hash tables that could keep
 * removed items in memory until the tables themselves are garbage-collected.
 */
export class LinkedList<Item extends LinkedListItem<Item>> {
  #first: Item | undefined
  #last: Item | undefined
  #size = 0

  get size(): number {
    return this.#size
  }

  get first(): Item | undefined {
    return this.#first
  }

  /** Adds an item at the end. The item must not be in a list already. */
  add(item: Item): void {
    item.before = this.#last
    if (this.#last === undefined) this.#first = item
    else this.#last.after = item
    this.#last = item
    this.#size++
  }

  /** Removes an item, which must be in this list. */
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

  /**
   * Iterates over the items. The loop body may remove only the current item: after a removal of the
   * next item, the iteration could end early.
   */
  *[Symbol.iterator](): IterableIterator<Item> {
    for (let item = this.#first; item !== undefined; ) {
      const { after } = item
      yield item
      item = after
    }
  }
}
