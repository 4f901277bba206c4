import { Fifo } from '../collections/fifo.ts'

interface Waiting<Item> {
  readonly item: Item
  readonly key: string | undefined
}

/**
 * The deliveries of one destination that wait for an attempt, in order of arrival. The key is the
 * user. Only the first delivery of a key is ready. The next one becomes ready when the previous one
 * has ended, so that the first attempts for one user never overtake each other. Deliveries without
 * a key (retries) block no other delivery.
 */
export class DestinationQueue<Item> {
  #ready = new Fifo<Waiting<Item>>()
  /**
   * Keys with a delivery that is ready or in progress. The fifo holds the deliveries of the key
   * that wait behind it.
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

  /** Removes the next ready item. It is in progress until `ended(key)`. */
  take(): Item | undefined {
    const next = this.#ready.shift()
    if (next !== undefined) this.#queued--
    return next?.item
  }

  /** Undoes a `take`: the item becomes the next one again. */
  requeue(item: Item, key?: string): void {
    this.#queued++
    this.#ready.unshift({ item, key })
  }

  /**
   * The item in progress with this key has ended or is deferred. The next item of the key becomes
   * ready.
   */
  ended(key?: string): void {
    if (key === undefined) return
    const next = this.#busy.get(key)?.shift()
    if (next === undefined) this.#busy.delete(key)
    else this.#ready.push({ item: next, key })
  }

  /** The queued item that will probably be taken next. */
  get oldest(): Item | undefined {
    const next = this.#ready.peek()
    if (next !== undefined) return next.item
    for (const behind of this.#busy.values()) if (behind !== undefined && behind.length > 0) return behind.peek()
    return undefined
  }

  /**
   * Removes the queued items that match, in order within each key. It stops after about `max`
   * items, but always processes a key completely. An item that does not match becomes ready when
   * all items before it have left.
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
   * Replaces the removed ready item of this key by the first item behind it that does not match.
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
