import type { LogRecord } from '../ports.ts'

/**
 * Finds the live records of the dead-letter topic. A record is live when it is the last one with
 * its key in its partition, and its value is not null. A null value is a tombstone, which marks the
 * dead letter as replayed. Offsets are compared only within a partition, so a tombstone must be
 * written to the partition of the dead letter.
 */
export class LiveDeadLetters {
  readonly #offsets = new Map<string, number>()

  /** Adds a record. The records of each partition must come in offset order. */
  note(record: LogRecord): void {
    const id = idOf(record)
    if (id === undefined) return
    if (record.value === null) this.#offsets.delete(id)
    else this.#offsets.set(id, record.offset)
  }

  /**
   * Whether a record is live. The caller must first call `note` with all records of the topic. A
   * record that was not noted is not live.
   */
  has(record: LogRecord): boolean {
    const id = idOf(record)
    return id !== undefined && this.#offsets.get(id) === record.offset
  }

  get size(): number {
    return this.#offsets.size
  }

  /**
   * The number of live records below the given offsets: `ends` has one offset for each partition,
   * in partition order.
   */
  countBefore(ends: readonly number[]): number {
    let count = 0
    for (const [id, offset] of this.#offsets) if (offset < (ends[partitionOf(id)] ?? 0)) count++
    return count
  }
}

/**
 * Identifies a record by key and partition. Latin-1 maps each byte to one character, so different
 * keys stay different. `undefined` for a record without a key, which no tombstone can remove.
 * Hookline writes a key for every dead letter.
 */
const idOf = ({ partition, key }: LogRecord): string | undefined =>
  key?.toString('latin1').concat('/', String(partition))

const partitionOf = (id: string): number => Number(id.slice(id.lastIndexOf('/') + 1))
