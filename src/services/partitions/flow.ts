import type { Shard } from './shard.ts'

/** What has become of the records of one consumer since it was last asked. */
export interface FlowCounts {
  /** Taken up. */
  readonly consumed: number
  /** Of those taken up now or before: done. */
  readonly done: number
  /** Of those taken up now or before: not done when their partition went. */
  readonly handedBack: number
  readonly joins: number
}

/** Adds up what shards count by themselves; what is done need not be counted, it is what is missing. So a record costs one addition. */
export class Flow {
  /** Taken up in partitions that have gone. */
  #gone = 0
  #handedBack = 0
  #joins = 0
  #before = { takenUp: 0, open: 0 }

  joined(): void {
    this.#joins++
  }

  left({ takenUp, tracker }: Shard): void {
    this.#gone += takenUp
    this.#handedBack += tracker.open
  }

  /** `shards`: those that are there now. */
  take(shards: Iterable<Shard>): FlowCounts {
    const now = { takenUp: this.#gone, open: 0 }
    for (const { takenUp, tracker } of shards) {
      now.takenUp += takenUp
      now.open += tracker.open
    }
    const consumed = now.takenUp - this.#before.takenUp
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
