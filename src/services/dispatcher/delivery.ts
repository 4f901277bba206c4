import type { Carried } from '../../core/delivery/carried.ts'
import type { Event } from '../../core/message/event.ts'
import type { LogRecord } from '../../core/ports.ts'
import type { JsonText } from '../../core/units.ts'
import type { Shard } from './shard.ts'

/** A record from its being taken up until it is done: when whoever took it up and each of its deliveries has released it. */
export class OpenRecord {
  readonly record: LogRecord
  readonly shard: Shard
  /** Monotonic milliseconds. */
  readonly takenUpAt: number
  /** The request body, made once for all destinations. */
  body: JsonText | undefined
  #holders = 1
  readonly #onDone: (open: OpenRecord) => void

  constructor(record: LogRecord, shard: Shard, takenUpAt: number, onDone: (open: OpenRecord) => void) {
    this.record = record
    this.shard = shard
    this.takenUpAt = takenUpAt
    this.body = undefined
    this.#onDone = onDone
  }

  hold(): void {
    this.#holders++
  }

  release(): void {
    if (--this.#holders === 0) this.#onDone(this)
  }
}

/** One event for one destination. */
export interface Delivery {
  readonly of: OpenRecord
  readonly event: Event
  /** Set on first attempts that must not overtake each other; parked deliveries hold nobody back. */
  readonly orderKey: string | undefined
  carried: Carried
}
