import { Fifo } from '../fifo.ts'

/**
 * The deliveries of one destination that wait for their attempt, in the order in which they came. Of those with the same key
 * (one user's) only the first is ready; the next one becomes ready when the one before has ended, so that one user's first
 * attempts never overtake each other. Deliveries without a key (retries) hold nobody back.
 */
export class Lane<Item> {
  readonly #ready = new Fifo<{ item: Item; key: string | undefined }>()
  /** A key stands here from its first push to its last `ended`; the fifo holds those behind the one that is ready or under way. */
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

  /** The next ready item, which from now on is under way until `ended(key)`. */
  take(): Item | undefined {
    const next = this.#ready.shift()
    if (next !== undefined) this.#queued--
    return next?.item
  }

  /** Undoes a `take`: the item is the next one again. */
  putBack(item: Item, key?: string): void {
    this.#queued++
    this.#ready.unshift({ item, key })
  }

  /** The item taken with this key has ended or moved on: the next one of the key becomes ready. */
  ended(key?: string): void {
    if (key === undefined) return
    const next = this.#busy.get(key)?.shift()
    if (next === undefined) this.#busy.delete(key)
    else this.#ready.push({ item: next, key })
  }
}
