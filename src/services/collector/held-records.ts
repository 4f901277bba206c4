import type { MemoryBudget } from '../../core/collector/memory-budget.ts'
import type { OutgoingRecord } from '../../core/ports.ts'

/** A record without the headers, which all records of a request share. */
export type Keyed = Omit<OutgoingRecord, 'headers'>

/** The cost of a record beside its bytes, while it waits. */
const overheadBytes = 256

/** The memory that a record takes until it is acknowledged. */
export const heldBytes = ({ key, value }: Keyed): number => overheadBytes + (key?.length ?? 0) + (value?.length ?? 0)

/**
 * The records of one request. Memory is taken for each as it is made: what a small body becomes together with the defaults of its
 * batch may be large, and is not made when there is no room for it.
 */
export class HeldRecords {
  readonly #budget: MemoryBudget
  #records: Keyed[] = []
  #bytes = 0

  constructor(budget: MemoryBudget) {
    this.#budget = budget
  }

  get size(): number {
    return this.#records.length
  }

  /** False: no memory is left for it. */
  add(record: Keyed): boolean {
    const bytes = heldBytes(record)
    if (!this.#budget.take(bytes, this.#bytes)) return false
    this.#bytes += bytes
    this.#records.push(record)
    return true
  }

  /** Hands over everything; whoever gets it gives the bytes back. */
  handOver(): { readonly records: readonly Keyed[]; readonly bytes: number } {
    const all = { records: this.#records, bytes: this.#bytes }
    this.#records = []
    this.#bytes = 0
    return all
  }

  /** Gives back what is not handed over. */
  discard(): void {
    this.#budget.giveBack(this.handOver().bytes)
  }
}
