import type { SharedMemory } from '../../core/collector/memory-limit-by-group.ts'
import type { OutgoingRecord } from '../../core/ports.ts'

/** All records of a request share the same headers. */
export type RecordWithoutHeaders = Omit<OutgoingRecord, 'headers'>

/** Estimated memory of a waiting record besides its key and value. */
const overheadBytes = 256

export const heldBytes = ({ key, value }: RecordWithoutHeaders): number =>
  overheadBytes + (key?.length ?? 0) + (value?.length ?? 0)

/**
 * The records of one request. They count towards the memory limit of the source: each record has a
 * copy of the batch's `context`, so a small request can need much memory.
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
    this.#records.push({ key: unshared(record.key), value: unshared(record.value) })
    return true
  }

  /**
   * Removes and returns all records. For each record, the caller must call `release` with its
   * `heldBytes` when it no longer needs memory.
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
 * Returns a buffer that shares its memory with no other. Small buffers share 64 KiB, which one
 * record of a partition without a leader would keep in memory.
 */
function unshared(bytes: Buffer | null): Buffer | null {
  if (bytes === null || bytes.length === bytes.buffer.byteLength) return bytes
  const own = Buffer.allocUnsafeSlow(bytes.length)
  own.set(bytes)
  return own
}
