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
    this.#records.push(record)
    return true
  }

  /**
   * Removes and returns all records. The caller must call `release` when the records no longer need
   * memory.
   */
  handOver(): { readonly records: readonly RecordWithoutHeaders[]; release(): void } {
    const records = this.#records
    const bytes = this.#bytes
    this.#records = []
    this.#bytes = 0
    return { records, release: () => this.#memory.giveBack(this.#sourceId, bytes) }
  }

  discard(): void {
    this.handOver().release()
  }
}
