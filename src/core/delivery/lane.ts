import { Fifo } from '../fifo.ts'

interface Waiting<Item> {
  readonly item: Item
  readonly key: string | undefined
}

/**
 * The deliveries of one destination that wait for their attempt, in the order in which they came. Of those with the same key
 * (one user's) only the first is ready; the next one becomes ready when the one before has ended, so that one user's first
 * attempts never overtake each other. Deliveries without a key (retries) hold nobody back.
 */
export class Lane<Item> {
  #ready = new Fifo<Waiting<Item>>()
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

  /** Of what waits, what will be taken next, as far as is known now. */
  get oldest(): Item | undefined {
    const next = this.#ready.peek()
    if (next !== undefined) return next.item
    for (const behind of this.#busy.values()) if (behind !== undefined && behind.length > 0) return behind.peek()
    return undefined
  }

  /**
   * Takes every waiting item that is such out of the lane, those of one key in their order. The next one that stays behind one that was
   * ready becomes ready in its place. `most`: of the keys that come after so many items none is begun; one that is begun leaves whole.
   */
  takeOut(isSuch: (item: Item) => boolean, most: number): readonly Item[] {
    const out: Item[] = []
    const keeps = (item: Item): boolean => {
      const isOut = isSuch(item)
      if (isOut) out.push(item)
      return !isOut
    }
    const ready = this.#ready
    this.#ready = new Fifo()
    for (const waiting of ready) {
      if (out.length >= most || keeps(waiting.item)) this.#ready.push(waiting)
      else this.#succeed(waiting.key, keeps)
    }
    for (const [key, behind] of this.#busy)
      if (behind !== undefined && out.length < most) this.#busy.set(key, kept(behind, keeps))
    this.#queued -= out.length
    return out
  }

  /** The one that was ready with this key is out: the first behind it that stays takes its place. */
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
