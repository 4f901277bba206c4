import { hash } from 'node:crypto'
import type { OffsetRange } from '../log-session.ts'

/** Maximum number of keys in the index of a process. A full index takes about 120 MB. */
const defaultMaxKeys = 2_000_000

/**
 * If more records at the end of a partition are unread, a new index begins at its end. This is
 * cheaper than reading the unread records.
 */
const maxCatchUp = 20_000

/** The keys from offset `from` to the one before `to` are in the index. */
interface Known {
  from: number
  to: number
  readonly latest: Map<number, number>
}

/**
 * An index of the newest part of each partition of the dead-letter topic: for each key, the offset
 * of its last record.
 *
 * A dead letter is live if it is the last record of its key. A later record is the tombstone of a
 * replay, or a copy. To list a page from the middle of the topic, the operator service must know
 * all later keys.
 *
 * The index has 48 bits of the SHA-1 of each key. If two keys have the same bits, the older dead
 * letter is not listed. With 1,000,000 dead letters, the probability of this is 0.2 %.
 */
export class DeadLetterIndex {
  readonly #known = new Map<number, Known>()
  readonly #maxKeys: number
  #keys = 0

  constructor(maxKeys = defaultMaxKeys) {
    this.#maxKeys = maxKeys
  }

  /**
   * A full index adds no further keys, so it can lack the tombstone of a replay. A replayed dead
   * letter can then seem live.
   */
  get isFull(): boolean {
    return this.#keys >= this.#maxKeys
  }

  /**
   * Returns the range of offsets whose keys are in the index, at the start of a read. The caller
   * then adds the keys of the records from `to` to `end`, and later of records before `from`. If
   * the index has no key of the partition, the range is empty and begins at `end`.
   */
  start(partition: number, range: OffsetRange): { readonly from: number; readonly to: number } {
    const known = this.#known.get(partition)
    if (known !== undefined && this.#isOutdated(known, range)) this.#forget(partition)
    return this.#of(partition, range.end)
  }

  /**
   * Whether the index of a partition must be discarded:
   * - The end offset has decreased: the topic was deleted and created again.
   * - Too many records are unread, or Kafka has deleted unread records.
   * - The index is full, and has keys of records that Kafka has deleted.
   */
  #isOutdated(known: Known, { beginning, end }: OffsetRange): boolean {
    if (known.to > end || end - known.to > maxCatchUp || known.to < beginning) return true
    return this.isFull && known.from < beginning
  }

  /**
   * The offset from which the index has all keys up to the end of the last read, except what a full
   * index lacks (`isFull`). `Infinity` before the first read.
   */
  knownFrom(partition: number): number {
    return this.#known.get(partition)?.from ?? Number.POSITIVE_INFINITY
  }

  /**
   * Adds the keys of the records from `from` to before `to`. Ignores records that neither adjoin
   * nor overlap the range of the index.
   */
  note(partition: number, from: number, to: number, records: readonly KeyAt[]): void {
    const known = this.#of(partition, to)
    if (to < known.from || from > known.to) return
    for (const { key, offset } of records) this.#set(known, hashOf(key), offset)
    // A full index may lack some of these keys. Then `from` stays, because callers assume that a
    // key without an entry has no record in the range. `to` must rise even then, because otherwise
    // each read would read the same records again. So callers must also check `isFull`.
    if (!this.isFull) known.from = Math.min(known.from, from)
    known.to = Math.max(known.to, to)
  }

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
