import type { LogRecord } from '../ports.ts'

/** Maximum number of keys in memory. A key takes about 180 bytes, so this is about 90 MB. */
const defaultMaxKeys = 500_000

/**
 * Finds the live dead letters: the last record of each key in a partition, except tombstones. Only
 * a part of at most `maxKeys` live records is in memory. The caller reads the whole topic again for
 * each part.
 */
export class LiveDeadLetters {
  readonly #maxKeys: number
  /** The offset of each live record of the part, by key and partition. */
  readonly #offsets = new Map<string, number>()
  /** For each partition, the first offset that is not in an earlier part. */
  #from: Offsets = {}
  /** For each partition, the offset after the last record of this part. */
  readonly #to: Record<number, number> = {}
  /**
   * For each partition, the first offset that belongs to no part. A record at or after this offset
   * only removes an earlier record with the same key.
   */
  #endOffsets: Offsets | undefined
  /** For each partition, the offset after the last record that was passed to `add`. */
  readonly #nextOffsets: Record<number, number> = {}
  /** Whether `add` got a live record that belongs to the next part. */
  #isFull = false
  /** Estimated number of live records of later parts (see `remaining`). It can be negative. */
  #laterCount = 0

  /**
   * @param endOffsets for each partition, the offset at which reading ends; by default, the offset
   *   after the last record that the caller passes to `add` for the first part of the keys
   */
  constructor(endOffsets?: readonly number[], maxKeys = defaultMaxKeys) {
    this.#endOffsets = endOffsets
    this.#maxKeys = maxKeys
  }

  /** Adds a record. The records of each partition must come in offset order. */
  add(record: LogRecord): void {
    const id = idOf(record)
    const { partition, offset, value } = record
    this.#nextOffsets[partition] = offset + 1
    if (id === undefined || offset < (this.#from[partition] ?? 0)) return
    const isKnown = this.#offsets.delete(id)
    if (value === null) {
      if (this.#isFull && !isKnown) this.#laterCount--
      return
    }
    if (this.#endOffsets !== undefined && offset >= (this.#endOffsets[partition] ?? 0)) return
    this.#isFull ||= this.#offsets.size >= this.#maxKeys
    if (this.#isFull) {
      this.#laterCount++
    } else {
      this.#offsets.set(id, offset)
      this.#to[partition] = offset + 1
    }
  }

  /**
   * Whether a record is live and in this part. The caller must first pass all records to `add`.
   */
  has(record: LogRecord): boolean {
    const id = idOf(record)
    return id !== undefined && this.#offsets.get(id) === record.offset
  }

  /** The number of live records of this part. */
  get size(): number {
    return this.#offsets.size
  }

  /**
   * The number of live records of this part and all later ones; an estimate if later parts exist.
   */
  get remaining(): number {
    return this.size + Math.max(this.#isFull ? 1 : 0, this.#laterCount)
  }

  /**
   * Returns false if this was the last part. Otherwise the caller must pass all records to `add`
   * again.
   */
  nextPart(): boolean {
    if (!this.#isFull) return false
    this.#endOffsets ??= { ...this.#nextOffsets }
    this.#from = { ...this.#to }
    this.#offsets.clear()
    this.#isFull = false
    this.#laterCount = 0
    return true
  }
}

/** An offset for each partition. */
type Offsets = Readonly<Record<number, number>>

/**
 * The key and the partition of a record as one text. Latin-1 maps each byte to one character, so
 * different keys stay different.
 */
const idOf = ({ partition, key }: LogRecord): string | undefined =>
  key?.toString('latin1').concat('/', String(partition))
