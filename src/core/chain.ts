/** The place of an item in a chain. */
export interface Link<Item> {
  readonly item: Item
  before: Link<Item> | undefined
  after: Link<Item> | undefined
}

/**
 * Items in the order in which they came, any of which is taken off in O(1). A `Set` would do the same, but each time that it makes itself a
 * new table the old one goes on holding what it held: once that table is old, each of its items outlives two more collections.
 */
export class Chain<Item> {
  #first: Link<Item> | undefined
  #last: Link<Item> | undefined
  #size = 0

  get size(): number {
    return this.#size
  }

  /** Puts an item at the end. The link is what it is taken off by. */
  add(item: Item): Link<Item> {
    const link: Link<Item> = { item, before: this.#last, after: undefined }
    if (this.#last === undefined) this.#first = link
    else this.#last.after = link
    this.#last = link
    this.#size++
    return link
  }

  /** Once for each link, which must be one of this chain. */
  remove(link: Link<Item>): void {
    const { before, after } = link
    if (before === undefined) this.#first = after
    else before.after = after
    if (after === undefined) this.#last = before
    else after.before = before
    link.before = undefined
    link.after = undefined
    this.#size--
  }

  /** The one that it is at may be removed meanwhile, and no other: it would end there. */
  *[Symbol.iterator](): IterableIterator<Item> {
    for (let link = this.#first; link !== undefined; ) {
      const { item, after } = link
      yield item
      link = after
    }
  }
}
