import type { PartitionProcessor } from './partition-processor.ts'

/** Records of one consumer since the last call. */
export interface RecordCounts {
  /** Admitted. */
  readonly consumed: number
  /** Of those admitted now or before: done. */
  readonly done: number
  /** Of those admitted now or before: not done when their partition was revoked. */
  readonly handedBack: number
  readonly joins: number
}

/** Sums the counters of the processors. Done records are the difference: a record costs one addition. */
export class RecordCounter {
  /** Admitted in partitions that were revoked. */
  #gone = 0
  #handedBack = 0
  #joins = 0
  #before = { admitted: 0, open: 0 }

  joined(): void {
    this.#joins++
  }

  left({ admitted, tracker }: PartitionProcessor): void {
    this.#gone += admitted
    this.#handedBack += tracker.open
  }

  /** `processors`: those that are there now. */
  take(processors: Iterable<PartitionProcessor>): RecordCounts {
    const now = { admitted: this.#gone, open: 0 }
    for (const { admitted, tracker } of processors) {
      now.admitted += admitted
      now.open += tracker.open
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
