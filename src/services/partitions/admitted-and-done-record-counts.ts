import type { PartitionProcessor } from './partition-processor.ts'

/** The record counts of one consumer since the previous call of `take`. */
export interface RecordCounts {
  /** Number of admitted records. */
  readonly consumed: number
  /**
   * Number of records that are done, including records that were admitted before the previous call.
   */
  readonly done: number
  /** Number of admitted records that were not done when their partition was revoked. */
  readonly handedBack: number
  /** Number of times that this consumer has joined its group. */
  readonly joins: number
}

/** Sums the counters of all partition processors. */
export class RecordCounter {
  /**
   * Number of admitted records in the partitions that were revoked since the creation of the
   * counter.
   */
  #admittedRevoked = 0
  #handedBack = 0
  #joins = 0
  #before = { admitted: 0, open: 0 }

  joined(): void {
    this.#joins++
  }

  left({ admitted, tracker }: PartitionProcessor): void {
    this.#admittedRevoked += admitted
    this.#handedBack += tracker.inProgressCount
  }

  take(processors: Iterable<PartitionProcessor>): RecordCounts {
    const now = { admitted: this.#admittedRevoked, open: 0 }
    for (const { admitted, tracker } of processors) {
      now.admitted += admitted
      now.open += tracker.inProgressCount
    }
    const consumed = now.admitted - this.#before.admitted
    const handedBack = this.#handedBack
    const counts = {
      consumed,
      handedBack,
      joins: this.#joins,
      done: this.#before.open + consumed - handedBack - now.open,
    }
    this.#handedBack = 0
    this.#joins = 0
    this.#before = now
    return counts
  }
}
