import { hash } from 'node:crypto'
import type { OffsetRange } from '../log-session.ts'

/** Maximum number of keys in the index of a process. A full index takes about 120 MB. */
const defaultMaxKeys = 2_000_000

/**
 * Maximum number of unread records that are added to an index. With more, a new index begins at the
 * end of the partition, which is cheaper than reading these records.
 */
const maxCatchUp = 20_000

/** The index has the keys of the records from offset `from` to `to - 1`. */
interface Known {
  from: number
  to: number
  /** Whether a key of these records is missing, because the index was full. */
  isIncomplete: boolean
  readonly latest: Map<number, number>
}

/**
 * An index of the newest dead letters: for each key, the offset of its last record. A dead letter
 * is live if it is this last record.
 */
export class DeadLetterIndex {
  readonly #known = new Map<number, Known>()
  readonly #maxKeys: number
  #keys = 0

  constructor(maxKeys = defaultMaxKeys) {
    this.#maxKeys = maxKeys
  }

  /**
   * Whether the index has reached its maximum size. It may then lack the tombstone of a replay, so
   * a replayed dead letter can seem live.
   */
  get isFull(): boolean {
    return this.#keys >= this.#maxKeys
  }

  /**
   * Begins a read. Returns the range of offsets in the index. Call `note` first for the records
   * after this range, up to `end`, and then for those before it.
   */
  start(partition: number, range: OffsetRange): { readonly from: number; readonly to: number } {
    const known = this.#known.get(partition)
    if (known !== undefined && this.#isOutdated(known, range)) this.#forget(partition)
    return this.#of(partition, range.end)
  }

  /**
   * True when the topic was created again, too many records are unread, Kafka deleted unread
   * records, or a full index has keys of deleted records.
   */
  #isOutdated(known: Known, { beginning, end }: OffsetRange): boolean {
    if (known.to > end || end - known.to > maxCatchUp || known.to < beginning) return true
    return this.isFull && known.from < beginning
  }

  /**
   * Returns an offset: from there to the end of the last read, the index has all keys, unless it is
   * full (`isFull`).
   */
  knownFrom(partition: number): number {
    return this.#known.get(partition)?.from ?? Number.POSITIVE_INFINITY
  }

  /**
   * Adds the keys of the records from `from` to before `to`, unless a gap separates them from the
   * index.
   */
  note(partition: number, from: number, to: number, records: readonly KeyAt[]): void {
    const known = this.#of(partition, to)
    if (to < known.from || from > known.to) return
    for (const { key, offset } of records) this.#set(known, hashOf(key), offset)
    // A full index may lack some of these keys, so `from` stays. `to` changes, so that the next
    // read does not read the same records again.
    if (!this.isFull) known.from = Math.min(known.from, from)
    known.to = Math.max(known.to, to)
  }

  offsetOf(partition: number, key: Buffer): number | undefined {
    return this.#known.get(partition)?.latest.get(hashOf(key))
  }

  #of(partition: number, end: number): Known {
    const known = this.#known.get(partition) ?? {
      from: end,
      to: end,
      isIncomplete: false,
      latest: new Map<number, number>(),
    }
    this.#known.set(partition, known)
    return known
  }

  #set(known: Known, id: number, offset: number): void {
    const latest = known.latest.get(id)
    if (latest === undefined) {
      if (this.isFull) {
        // Records before `from` are not in the range yet, and will be read again.
        known.isIncomplete ||= offset >= known.from
        return
      }
      this.#keys++
    }
    known.latest.set(id, Math.max(latest ?? offset, offset))
  }

  #forget(partition: number): void {
    this.#keys -= this.#known.get(partition)?.latest.size ?? 0
    this.#known.delete(partition)
    if (this.isFull) return
    // `isFull` no longer says that keys are missing, so the ranges that lack keys become empty.
    for (const known of this.#known.values()) if (known.isIncomplete) this.#empty(known)
  }

  #empty(known: Known): void {
    this.#keys -= known.latest.size
    known.latest.clear()
    known.from = known.to
    known.isIncomplete = false
  }
}

export interface KeyAt {
  readonly key: Buffer
  readonly offset: number
}

/** If two keys have the same 48 bits, the index has only the newer dead letter of the two. */
const hashOf = (key: Buffer): number => hash('sha1', key, 'buffer').readUIntBE(0, 6)
