import type { SharedMemory } from '../../core/collector/memory-limit-by-group.ts'
import type { OutgoingRecord } from '../../core/ports.ts'

/** All records of a request share the same headers. */
export type RecordWithoutHeaders = Omit<OutgoingRecord, 'headers'>

/** Estimated memory of a waiting record besides its key and value. */
const overheadBytes = 256

export const heldBytes = ({ key, value }: RecordWithoutHeaders): number =>
  overheadBytes + (key?.length ?? 0) + (value?.length ?? 0)

/**
 * The records of one request, which count towards the memory limit of its source. They can take
 * much more memory than the body, because each message gets the defaults of its batch.
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

  /** Adds a record. Returns false when its source may not use more memory. */
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
