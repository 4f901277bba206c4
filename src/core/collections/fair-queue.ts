import { LinkedList, type LinkedListItem } from './linked-list.ts'
import { PriorityQueue } from './priority-queue.ts'

/** An item that waits in a fair queue. It can be in only one queue at a time. */
export interface FairQueueItem<Item> extends LinkedListItem<Item> {
  /** The queue is fair among groups, for example the sources of requests. */
  readonly group: string
  /** The work that the item causes, more than 0, for example the bytes to process. */
  readonly cost: number
}

/** The items of one group that wait. */
interface Group<Item extends FairQueueItem<Item>> {
  readonly name: string
  readonly items: LinkedList<Item>
  /**
   * The virtual time at which the group began to wait. Each `shift` of an item of the group sets
   * `start` to the current `finish`.
   */
  start: number
  finish: number
  /** Of groups with the same `finish`, the one with the lowest `order` is the next. */
  order: number
  position: number
}

/**
 * Self-clocked fair queueing among groups of items. The `finish` of a group is its `start` plus the
 * cost of its first item. The group with the lowest `finish` is next, and this `finish` becomes the
 * virtual time. A group that begins to wait starts at the virtual time.
 */
export class FairQueue<Item extends FairQueueItem<Item>> {
  #virtualTime = 0
  #placed = 0
  readonly #groups = new Map<string, Group<Item>>()
  readonly #byFinish = new PriorityQueue<Group<Item>>(
    (one, other) => one.finish < other.finish || (one.finish === other.finish && one.order < other.order),
  )

  /** The item that `shift` returns next. */
  get first(): Item | undefined {
    return this.#byFinish.first?.items.first
  }

  add(item: Item): void {
    const group = this.#groups.get(item.group)
    if (group === undefined) this.#addGroup(item)
    else group.items.add(item)
  }

  shift(): Item | undefined {
    const group = this.#byFinish.first
    const item = group?.items.first
    if (group === undefined || item === undefined) return undefined
    this.#virtualTime = group.finish
    group.start = group.finish
    this.remove(item)
    return item
  }

  /** Removes an item that waits in this queue. The item's cost does not count for its group. */
  remove(item: Item): void {
    const group = this.#groups.get(item.group)
    if (group === undefined) return
    const before = group.items.first
    group.items.remove(item)
    if (item !== before) return
    this.#byFinish.remove(group)
    const next = group.items.first
    if (next === undefined) this.#groups.delete(group.name)
    else this.#place(group, next)
  }

  #addGroup(item: Item): void {
    const items = new LinkedList<Item>()
    items.add(item)
    const group = { name: item.group, items, start: this.#virtualTime, finish: 0, order: 0, position: 0 }
    this.#groups.set(group.name, group)
    this.#place(group, item)
  }

  #place(group: Group<Item>, first: Item): void {
    // After a `remove`, `start` plus the cost can be below the virtual time, which must never
    // decrease.
    group.finish = Math.max(group.start + first.cost, this.#virtualTime)
    group.order = this.#placed++
    this.#byFinish.add(group)
  }
}
