import { Fifo } from '../collections/fifo.ts'

interface Waiting<Item> {
  readonly item: Item
  readonly key: string | undefined
}

/**
 * The deliveries of one destination that wait for their attempt, in the order in which they came.
 * Only the first one of a key (one user) is ready; the next one becomes ready when the one before
 * has ended, so that one user's first attempts never overtake each other. Deliveries without a key
 * (retries) block no other.
 */
export class DestinationQueue<Item> {
  #ready = new Fifo<Waiting<Item>>()
  /** A key is here from its first push to its last `ended`; the fifo holds those behind the one that is ready or in progress. */
  readonly #busy = new Map<string, Fifo<Item> | undefined>()
  #queued = 0

  /** Waiting, ready or not; what was taken no longer counts. */
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

  /** The next ready item, which is in progress until `ended(key)`. */
  take(): Item | undefined {
    const next = this.#ready.shift()
    if (next !== undefined) this.#queued--
    return next?.item
  }

  /** Undoes a `take`: the item is the next one again. */
  requeue(item: Item, key?: string): void {
    this.#queued++
    this.#ready.unshift({ item, key })
  }

  /** The item taken with this key has ended or is deferred: the next one of the key becomes ready. */
  ended(key?: string): void {
    if (key === undefined) return
    const next = this.#busy.get(key)?.shift()
    if (next === undefined) this.#busy.delete(key)
    else this.#ready.push({ item: next, key })
  }

  /** The queued item that will be taken next, as far as is known now. */
  get oldest(): Item | undefined {
    const next = this.#ready.peek()
    if (next !== undefined) return next.item
    for (const behind of this.#busy.values()) if (behind !== undefined && behind.length > 0) return behind.peek()
    return undefined
  }

  /**
   * Removes all queued items that match, those of one key in their order, and stops after about
   * `max` items: a key is removed whole. An item that stays becomes ready when those before it leave.
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

  /** The ready item of this key is removed: the first one behind it that stays takes its place. */
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
