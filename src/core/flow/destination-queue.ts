import { Fifo } from '../collections/fifo.ts'

interface Waiting<Item> {
  readonly item: Item
  readonly key: string | undefined
}

/**
 * The deliveries of one destination that wait for an attempt, in order of arrival. The key of a
 * delivery is its user. Only the first waiting delivery of a key is ready to start. The next one
 * becomes ready when the previous one has ended, so that the first attempts for one user keep their
 * order. Some deliveries have no key, and do not wait for others: retries, and all deliveries with
 * `ordering: none`.
 */
export class DestinationQueue<Item> {
  #ready = new Fifo<Waiting<Item>>()
  /**
   * Keys with a delivery that is ready or in progress. The value is the queue of later deliveries
   * of the key. It is `undefined` until there is a later delivery.
   */
  readonly #busy = new Map<string, Fifo<Item> | undefined>()
  #queued = 0

  /** The number of waiting deliveries, ready or not, without those in progress. */
  get queued(): number {
    return this.#queued
  }

  get ready(): number {
    return this.#ready.length
  }

  push(item: Item, key?: string): void {
    this.#queued++
    if (key === undefined) {
      this.#ready.push({ item, key })
    } else if (this.#busy.has(key)) {
      const behind = this.#busy.get(key) ?? new Fifo<Item>()
      behind.push(item)
      this.#busy.set(key, behind)
    } else {
      this.#busy.set(key, undefined)
      this.#ready.push({ item, key })
    }
  }

  /**
   * Removes and returns the next ready item; `undefined` when no item is ready. The item is in
   * progress until the caller calls `ended` with its key; until then, no other item of the key
   * becomes ready.
   */
  take(): Item | undefined {
    const next = this.#ready.shift()
    if (next !== undefined) this.#queued--
    return next?.item
  }

  /** Undoes a `take`: the next `take` returns the item again. */
  requeue(item: Item, key?: string): void {
    this.#queued++
    this.#ready.unshift({ item, key })
  }

  /**
   * Notes that the item in progress with this key has ended or is deferred. The next item of the
   * key becomes ready.
   */
  ended(key?: string): void {
    if (key === undefined) return
    const next = this.#busy.get(key)?.shift()
    if (next === undefined) this.#busy.delete(key)
    else this.#ready.push({ item: next, key })
  }

  /**
   * The first ready item, which `take` returns next. If no item is ready, this is the first waiting
   * item of a key that has an item in progress. `undefined` when no item waits.
   */
  get oldest(): Item | undefined {
    const next = this.#ready.peek()
    if (next !== undefined) return next.item
    for (const behind of this.#busy.values()) if (behind !== undefined && behind.length > 0) return behind.peek()
    return undefined
  }

  /**
   * Removes and returns the queued items for which `matches` is true, in order within each key. The
   * function stops when it has removed about `max` items. But if it removes one item of a key, it
   * removes all items of the key that match. An item that stays in the queue becomes ready when all
   * earlier items of its key have left the queue and none is in progress.
   */
  drainMatching(matches: (item: Item) => boolean, max: number): readonly Item[] {
    const out: Item[] = []
    const keeps = (item: Item): boolean => {
      const isOut = matches(item)
      if (isOut) out.push(item)
      return !isOut
    }
    const ready = this.#ready
    this.#ready = new Fifo()
    for (const waiting of ready) {
      if (out.length >= max || keeps(waiting.item)) this.#ready.push(waiting)
      else this.#succeed(waiting.key, keeps)
    }
    for (const [key, behind] of this.#busy)
      if (behind !== undefined && out.length < max) this.#busy.set(key, kept(behind, keeps))
    this.#queued -= out.length
    return out
  }

  /**
   * Makes the next item of a key ready, after `drainMatching` has removed the key's ready item. The
   * next item is the first one that stays in the queue (`keeps`).
   */
  #succeed(key: string | undefined, keeps: (item: Item) => boolean): void {
    if (key === undefined) return
    const behind = kept(this.#busy.get(key) ?? new Fifo<Item>(), keeps)
    const next = behind.shift()
    if (next === undefined) this.#busy.delete(key)
    else {
      this.#busy.set(key, behind)
      this.#ready.push({ item: next, key })
    }
  }
}

function kept<Item>(items: Fifo<Item>, keeps: (item: Item) => boolean): Fifo<Item> {
  const left = new Fifo<Item>()
  for (const item of items) if (keeps(item)) left.push(item)
  return left
}
