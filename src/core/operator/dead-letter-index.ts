import { hash } from 'node:crypto'
import type { OffsetRange } from '../log-session.ts'

/** Maximum number of keys in the index of a process. A full index takes about 120 MB. */
const defaultMaxKeys = 2_000_000

/**
 * Maximum number of unread records that are added to an index. If more records are unread, a new
 * index begins at the end of the partition, which is cheaper than reading these records.
 */
const maxCatchUp = 20_000

/** The index has the keys of the records from offset `from` to `to - 1`. */
interface IndexedRange {
  from: number
  to: number
  /** Whether the index lacks a key of this range, because the index was full. */
  isIncomplete: boolean
  readonly latest: Map<number, number>
}

/**
 * An index of the newest dead letters: for each key, the offset of its last record. A dead letter
 * is live if it is this last record.
 */
export class DeadLetterIndex {
  readonly #indexed = new Map<number, IndexedRange>()
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
    const indexed = this.#indexed.get(partition)
    if (indexed !== undefined && this.#isOutdated(indexed, range)) this.#forget(partition)
    return this.#rangeOf(partition, range.end)
  }

  /**
   * True when the topic was created again, too many records are unread, Kafka deleted unread
   * records, or a full index has keys of deleted records.
   */
  #isOutdated(indexed: IndexedRange, { beginning, end }: OffsetRange): boolean {
    if (indexed.to > end || end - indexed.to > maxCatchUp || indexed.to < beginning) return true
    return this.isFull && indexed.from < beginning
  }

  /**
   * Returns the first offset that the index covers. From there to the end of the last read, the
   * index has all keys, unless the index is full (`isFull`).
   */
  indexedFrom(partition: number): number {
    return this.#indexed.get(partition)?.from ?? Number.POSITIVE_INFINITY
  }

  /**
   * Adds the keys of the records from `from` to before `to`, unless a gap separates them from the
   * index.
   */
  note(partition: number, from: number, to: number, records: readonly KeyAt[]): void {
    const indexed = this.#rangeOf(partition, to)
    if (to < indexed.from || from > indexed.to) return
    for (const { key, offset } of records) this.#set(indexed, hashOf(key), offset)
    // A full index may lack some of these keys, so `from` stays. `to` changes, so that the next
    // read does not read the same records again.
    if (!this.isFull) indexed.from = Math.min(indexed.from, from)
    indexed.to = Math.max(indexed.to, to)
  }

  offsetOf(partition: number, key: Buffer): number | undefined {
    return this.#indexed.get(partition)?.latest.get(hashOf(key))
  }

  #rangeOf(partition: number, end: number): IndexedRange {
    const indexed = this.#indexed.get(partition) ?? {
      from: end,
      to: end,
      isIncomplete: false,
      latest: new Map<number, number>(),
    }
    this.#indexed.set(partition, indexed)
    return indexed
  }

  #set(indexed: IndexedRange, id: number, offset: number): void {
    const latest = indexed.latest.get(id)
    if (latest === undefined) {
      if (this.isFull) {
        // A record before `from` is outside of the indexed range, so the next read reads it again.
        // Only a missing key of a later record makes the range incomplete.
        indexed.isIncomplete ||= offset >= indexed.from
        return
      }
      this.#keys++
    }
    indexed.latest.set(id, Math.max(latest ?? offset, offset))
  }

  #forget(partition: number): void {
    this.#keys -= this.#indexed.get(partition)?.latest.size ?? 0
    this.#indexed.delete(partition)
    if (this.isFull) return
    // The index is no longer full, so `isFull` no longer warns that keys are missing. Empty the
    // ranges that lack keys: the next reads fill them again.
    for (const indexed of this.#indexed.values()) if (indexed.isIncomplete) this.#empty(indexed)
  }

  #empty(indexed: IndexedRange): void {
    this.#keys -= indexed.latest.size
    indexed.latest.clear()
    indexed.from = indexed.to
    indexed.isIncomplete = false
  }
}

export interface KeyAt {
  readonly key: Buffer
  readonly offset: number
}

/**
 * Returns 48 bits of a hash. If two keys have the same bits, the index has only the newer of the
 * two dead letters.
 */
const hashOf = (key: Buffer): number => hash('sha1', key, 'buffer').readUIntBE(0, 6)
