import type { LogRecord } from '../ports.ts'

/** Maximum number of keys in memory. A key takes about 180 bytes, so this is about 90 MB. */
const defaultMaxKeys = 500_000

/**
 * Finds the live records of the dead-letter topic. A record is live when it is the last one with
 * its key in its partition, and not a tombstone, which marks the dead letter as replayed. Offsets
 * are compared only within a partition, so a tombstone must be in the partition of its dead letter.
 *
 * To limit the memory, the records are divided into parts, and only one part at a time is in
 * memory. A part is full when it has `maxKeys` live records. In each partition, a later part has
 * only later records. The caller reads the whole topic again for each part, because a later record
 * decides whether a record of the part is live.
 */
export class LiveDeadLetters {
  readonly #maxKeys: number
  /** The offset of each live record of the part, by key and partition. */
  readonly #offsets = new Map<string, number>()
  /** For each partition, the first offset that is not in an earlier part. */
  #from: Offsets = {}
  /** For each partition, the offset after the last record of this part. */
  readonly #to: Record<number, number> = {}
  /** For each partition, the first offset that belongs to no part. */
  #ends: Offsets | undefined
  /** For each partition, the offset after the last record that was passed to `note`. */
  readonly #noted: Record<number, number> = {}
  /**
   * Whether `note` got a further live record when the current part already had `maxKeys` live
   * records. That record and all records after it belong to later parts.
   */
  #isFull = false
  /** Estimated number of live records of later parts (see `left`). It can be negative. */
  #laterCount = 0

  /**
   * @param ends for each partition, the first offset that belongs to no part. Default: the end of
   *   the records that are passed to `note` before the first call of `nextPart`.
   */
  constructor(ends?: readonly number[], maxKeys = defaultMaxKeys) {
    this.#ends = ends
    this.#maxKeys = maxKeys
  }

  /** Adds a record. The records of each partition must come in offset order. */
  note(record: LogRecord): void {
    const id = idOf(record)
    const { partition, offset, value } = record
    this.#noted[partition] = offset + 1
    if (id === undefined || offset < (this.#from[partition] ?? 0)) return
    const isKnown = this.#offsets.delete(id)
    if (value === null) {
      if (this.#isFull && !isKnown) this.#laterCount--
      return
    }
    if (this.#ends !== undefined && offset >= (this.#ends[partition] ?? 0)) return
    this.#isFull ||= this.#offsets.size >= this.#maxKeys
    if (this.#isFull) {
      this.#laterCount++
    } else {
      this.#offsets.set(id, offset)
      this.#to[partition] = offset + 1
    }
  }

  /**
   * Whether a record is live and belongs to this part. The caller must first pass all records of
   * the topic to `note`.
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
   * The number of live records of this part and all later ones. If later parts exist, it is an
   * estimate: each tombstone whose key is not in this part is assumed to replace a record of a
   * later part.
   */
  get left(): number {
    return this.size + Math.max(this.#isFull ? 1 : 0, this.#laterCount)
  }

  /**
   * Begins the next part, for which the caller calls `note` with all records again. Returns false
   * when no further part exists.
   */
  nextPart(): boolean {
    if (!this.#isFull) return false
    this.#ends ??= { ...this.#noted }
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
 * Latin-1 maps each byte to one character, so different keys stay different. `undefined` for a
 * record without a key, which no tombstone can remove.
 */
const idOf = ({ partition, key }: LogRecord): string | undefined =>
  key?.toString('latin1').concat('/', String(partition))
