import { hash } from 'node:crypto'

/**
 * Maximum number of keys. Each takes about 60 bytes, so a full index takes 120 MB.
 */
const defaultMaxKeys = 2_000_000

/** Records after the known part beyond which it is cheaper to begin again at the end. */
const maxCatchUp = 20_000

/** The part of a partition whose keys are known: from `from` to the offset before `to`. */
interface Known {
  from: number
  to: number
  readonly latest: Map<number, number>
}

/**
 * Knows the last record of each key in the newest part of each partition of the dead-letter topic.
 * A dead letter is live when it is the last record of its key: a later one is the tombstone of a
 * replay, or a copy. A page from the middle of the topic needs this for all records after it, so
 * the operator service keeps it, and each read extends it.
 *
 * It keeps 48 bits of the SHA-1 of a key. With 1,000,000 dead letters, the chance that any two have
 * the same bits, and the older one is not listed, is 0.2 %.
 */
export class LatestOffsets {
  readonly #known = new Map<number, Known>()
  readonly #maxKeys: number
  #keys = 0

  constructor(maxKeys = defaultMaxKeys) {
    this.#maxKeys = maxKeys
  }

  /** Whether no more keys are noted. Then a record below the known part can seem live. */
  get isFull(): boolean {
    return this.#keys >= this.#maxKeys
  }

  /**
   * Returns the known part of a partition, which is empty at `end` when nothing of it was noted.
   * Call it at the start of a read with the end offset of the partition.
   */
  start(partition: number, end: number): { readonly from: number; readonly to: number } {
    const known = this.#known.get(partition)
    // The topic was deleted and created again, or there is too much to catch up with.
    if (known !== undefined && (known.to > end || end - known.to > maxCatchUp)) this.#forget(partition)
    return this.#of(partition, end)
  }

  /** The first known offset of a partition. */
  knownFrom(partition: number): number {
    return this.#known.get(partition)?.from ?? Number.POSITIVE_INFINITY
  }

  /** Notes the keys of records that adjoin the known part, or lie in it. */
  note(partition: number, from: number, to: number, records: readonly KeyAt[]): void {
    const known = this.#of(partition, to)
    if (to < known.from || from > known.to) return
    for (const { key, offset } of records) this.#set(known, hashOf(key), offset)
    known.from = Math.min(known.from, from)
    known.to = Math.max(known.to, to)
  }

  /** The offset of the last record of a key; `undefined` when no record of it was noted. */
  offsetOf(partition: number, key: Buffer): number | undefined {
    return this.#known.get(partition)?.latest.get(hashOf(key))
  }

  #of(partition: number, end: number): Known {
    const known = this.#known.get(partition) ?? { from: end, to: end, latest: new Map<number, number>() }
    this.#known.set(partition, known)
    return known
  }

  #set(known: Known, id: number, offset: number): void {
    const latest = known.latest.get(id)
    if (latest === undefined) {
      if (this.isFull) return
      this.#keys++
    }
    known.latest.set(id, Math.max(latest ?? offset, offset))
  }

  #forget(partition: number): void {
    this.#keys -= this.#known.get(partition)?.latest.size ?? 0
    this.#known.delete(partition)
  }
}

export interface KeyAt {
  readonly key: Buffer
  readonly offset: number
}

const hashOf = (key: Buffer): number => hash('sha1', key, 'buffer').readUIntBE(0, 6)
