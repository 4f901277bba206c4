import type { Chained } from '../../core/chain.ts'
import type { Breaker } from '../../core/delivery/breaker.ts'
import type { Carried } from '../../core/delivery/carried.ts'
import type { Lane } from '../../core/delivery/lane.ts'
import type { Share } from '../../core/delivery/places.ts'
import type { EventHead } from '../../core/message/event.ts'
import type { Count } from '../../core/metrics.ts'
import type { LogRecord } from '../../core/ports.ts'
import type { EpochMs } from '../../core/units.ts'
import type { Shard } from '../partitions/shard.ts'
import type { LaneRoute } from './lane-route.ts'

/** Who is told when a record is done. */
interface Keeper {
  done(open: OpenRecord): void
}

/** A record from its being taken up until it is done: when whoever took it up and each of its deliveries has released it. */
export class OpenRecord implements Chained<OpenRecord> {
  readonly record: LogRecord
  readonly shard: Shard
  /** Monotonic milliseconds. */
  readonly takenUpAt: number
  /** Until it is done or forgotten. */
  isOpen = true
  before: OpenRecord | undefined = undefined
  after: OpenRecord | undefined = undefined
  #holders = 1
  readonly #keeper: Keeper

  constructor(record: LogRecord, shard: Shard, takenUpAt: number, keeper: Keeper) {
    this.record = record
    this.shard = shard
    this.takenUpAt = takenUpAt
    this.#keeper = keeper
  }

  hold(): void {
    this.#holders++
  }

  /** A destination needs nothing more of it. */
  doneFor(destination: string): void {
    if (this.#holders > 1) this.shard.partlyDone(this.record, destination)
  }

  release(): void {
    if (--this.#holders === 0) this.#keeper.done(this)
  }
}

/** What is one destination's own: its queue, its breaker, its calls under way. */
export interface DestinationLane extends Share {
  readonly destination: string
  readonly queue: Lane<Delivery>
  readonly breaker: Breaker
  /** As of its last delivery. */
  route: LaneRoute | undefined
  /** Deliveries that arrived; from the first one on. */
  delivered: Count | undefined
  /** Stands among the turns: once, however much is ready. */
  isInTurn: boolean
  /** Has something ready but no place; asked again when a call ends. */
  isBlocked: boolean
  /** Stands among those that wait for a place, or did when it was asked out of turn. */
  isAmongBlocked: boolean
}

/** One event for one destination. */
export interface Delivery {
  readonly lane: DestinationLane
  readonly of: OpenRecord
  readonly event: EventHead
  /** Of its requests, one for all destinations. As bytes: a text would be copied by the garbage collector for as long as it waits. */
  readonly body: Buffer
  /** Set on first attempts that must not overtake each other; parked deliveries hold nobody back. */
  readonly orderKey: string | undefined
  carried: Carried
}

/** The earlier of the two times: a producer may claim any, but an event was received before the broker appended it. */
export function receivedAtOf({
  event: { receivedAt },
  carried: { origin },
}: Pick<Delivery, 'event' | 'carried'>): EpochMs {
  return origin.timestamp < 0 || receivedAt < origin.timestamp ? receivedAt : origin.timestamp
}
