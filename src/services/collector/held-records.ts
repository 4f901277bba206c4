import type { MemoryBudget } from '../../core/collector/memory-budget.ts'
import type { OutgoingRecord } from '../../core/ports.ts'

/** A record without its headers, because all records of a request share the same headers. */
export type RecordWithoutHeaders = Omit<OutgoingRecord, 'headers'>

/** Estimated memory of a waiting record in addition to its key and value. */
const overheadBytes = 256

/** The bytes of memory that a record takes until it is acknowledged. */
export const heldBytes = ({ key, value }: RecordWithoutHeaders): number =>
  overheadBytes + (key?.length ?? 0) + (value?.length ?? 0)

/**
 * The records of one request. Each record takes memory from the budget when it is added, because a
 * small body can become large records: each message gets the defaults of its batch.
 */
export class HeldRecords {
  readonly #budget: MemoryBudget
  #records: RecordWithoutHeaders[] = []
  #bytes = 0

  constructor(budget: MemoryBudget) {
    this.#budget = budget
  }

  get size(): number {
    return this.#records.length
  }

  /** Adds a record. Returns false when the budget has no memory for it. */
  add(record: RecordWithoutHeaders): boolean {
    const bytes = heldBytes(record)
    if (!this.#budget.take(bytes, this.#bytes)) return false
    this.#bytes += bytes
    this.#records.push(record)
    return true
  }

  /** Removes and returns all records. The caller must release their bytes in the memory budget. */
  handOver(): { readonly records: readonly RecordWithoutHeaders[]; readonly bytes: number } {
    const all = { records: this.#records, bytes: this.#bytes }
    this.#records = []
    this.#bytes = 0
    return all
  }

  /** Releases the memory of the remaining records, which are not written to Kafka. */
  discard(): void {
    this.#budget.giveBack(this.handOver().bytes)
  }
}
