import { Fifo } from '../collections/fifo.ts'

interface Waiting<Item> {
  readonly item: Item
  readonly key: string | undefined
}

/**
 * Deliveries of one destination. The next delivery of a key (user) waits until the previous one has
 * ended. Retries, and all deliveries with `ordering: none`, have no key, so they do not wait for
 * each other.
 */
export class DestinationQueue<Item> {
  #ready = new Fifo<Waiting<Item>>()
  /** Keys with a delivery that is ready or in progress, and the later deliveries of each key. */
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
   * Removes and returns the next ready item. Other items of its key wait until `ended` is called.
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

  /** The item in progress with this key has ended or is deferred: the next item becomes ready. */
  ended(key?: string): void {
    if (key === undefined) return
    const next = this.#busy.get(key)?.shift()
    if (next === undefined) this.#busy.delete(key)
    else this.#ready.push({ item: next, key })
  }

  /** The next ready item, and for each key the first item that waits for another item of the key. */
  *heads(): Generator<Item> {
    const next = this.#ready.peek()
    if (next !== undefined) yield next.item
    for (const behind of this.#busy.values()) {
      const first = behind?.peek()
      if (first !== undefined) yield first
    }
  }

  /**
   * Removes and returns matching items, in order within each key. Stops when it has `max` items,
   * but never between two items of one key, so it may return more.
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
      else this.#makeNextReady(waiting.key, keeps)
    }
    for (const [key, behind] of this.#busy)
      if (behind !== undefined && out.length < max) this.#busy.set(key, kept(behind, keeps))
    this.#queued -= out.length
    return out
  }

  /** Makes the next item of a key ready, after `drainMatching` has removed the key's ready item. */
  #makeNextReady(key: string | undefined, keeps: (item: Item) => boolean): void {
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
