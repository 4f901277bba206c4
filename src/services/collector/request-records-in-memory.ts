import type { SharedMemory } from '../../core/collector/memory-limit-by-group.ts'
import type { OutgoingRecord } from '../../core/ports.ts'

/** All records of a request share the same headers. */
export type RecordWithoutHeaders = Omit<OutgoingRecord, 'headers'>

/**
 * Measured memory, besides key and value, of a record that waits for Kafka (see
 * `copyWithOwnBuffer`).
 */
const overheadBytes = 1_000

export const heldBytes = ({ key, value }: RecordWithoutHeaders): number =>
  overheadBytes + (key?.length ?? 0) + (value?.length ?? 0)

/**
 * The records of one request. They count towards the memory limit of the source, because even a
 * small request can need much memory: each record has a copy of the batch's `context`.
 */
export class HeldRecords {
  readonly #memory: SharedMemory
  readonly #sourceId: string
  #records: RecordWithoutHeaders[] = []
  #bytes = 0

  constructor(memory: SharedMemory, sourceId: string) {
    this.#memory = memory
    this.#sourceId = sourceId
  }

  get size(): number {
    return this.#records.length
  }

  /** Adds a record. Returns false when the source has reached its memory limit. */
  add(record: RecordWithoutHeaders): boolean {
    const bytes = heldBytes(record)
    if (!this.#memory.take(this.#sourceId, bytes, this.#bytes)) return false
    this.#bytes += bytes
    this.#records.push(copyWithOwnBuffer(record))
    return true
  }

  /**
   * Removes and returns all records. For each record, the caller must call `release` with the
   * record's `heldBytes` when the record no longer needs memory.
   */
  handOver(): { readonly records: readonly RecordWithoutHeaders[]; release(bytes: number): void } {
    const records = this.#records
    this.#records = []
    this.#bytes = 0
    return { records, release: bytes => this.#memory.giveBack(this.#sourceId, bytes) }
  }

  discard(): void {
    this.#memory.giveBack(this.#sourceId, this.#bytes)
    this.#records = []
    this.#bytes = 0
  }
}

/**
 * Returns a copy of a record, with its own memory. Node allocates small buffers in shared blocks of
 * 64 KiB. One record that waits for the leader of its partition would keep a whole block in memory.
 */
export function copyWithOwnBuffer<Record extends RecordWithoutHeaders>(record: Record): Record {
  const [key, value] = [record.key ?? Buffer.alloc(0), record.value ?? Buffer.alloc(0)]
  const own = Buffer.allocUnsafeSlow(key.length + value.length)
  own.set(key)
  own.set(value, key.length)
  return {
    ...record,
    key: record.key && own.subarray(0, key.length),
    value: record.value && own.subarray(key.length),
  }
}
