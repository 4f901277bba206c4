import type { Chained } from '../../core/collections/chain.ts'
import type { DeliveryState } from '../../core/delivery/delivery-state.ts'
import type { CircuitBreaker } from '../../core/flow/circuit-breaker.ts'
import type { DestinationCalls } from '../../core/flow/concurrency-limiter.ts'
import type { DestinationQueue } from '../../core/flow/destination-queue.ts'
import type { EventHead } from '../../core/message/event.ts'
import type { Count } from '../../core/metrics/metrics.ts'
import type { LogRecord } from '../../core/ports.ts'
import type { EpochMs } from '../../core/units.ts'
import type { PartitionProcessor } from '../partitions/partition-processor.ts'
import type { DestinationRoute } from './destination-route.ts'

/** Is notified when a record is done. */
interface Keeper {
  done(open: AdmittedRecord): void
}

/**
 * A record from its admission until it is done. The intake and each of its deliveries retain it; the
 * last `release` makes it done. Its offset is committed only then, so a crash loses no delivery.
 */
export class AdmittedRecord implements Chained<AdmittedRecord> {
  readonly record: LogRecord
  readonly processor: PartitionProcessor
  /** Monotonic milliseconds. */
  readonly admittedAt: number
  /** Until it is done or forgotten. */
  isOpen = true
  before: AdmittedRecord | undefined = undefined
  after: AdmittedRecord | undefined = undefined
  #holders = 1
  readonly #keeper: Keeper

  constructor(record: LogRecord, processor: PartitionProcessor, admittedAt: number, keeper: Keeper) {
    this.record = record
    this.processor = processor
    this.admittedAt = admittedAt
    this.#keeper = keeper
  }

  retain(): void {
    this.#holders++
  }

  /** A destination needs nothing more of it. */
  doneFor(destination: string): void {
    if (this.#holders > 1) this.processor.partlyDone(this.record, destination)
  }

  release(): void {
    if (--this.#holders === 0) this.#keeper.done(this)
  }
}

/** The state of one destination: its queue, its circuit breaker, its calls in progress. */
export interface DestinationState extends DestinationCalls {
  readonly destination: string
  readonly queue: DestinationQueue<Delivery>
  readonly breaker: CircuitBreaker
  /** As of its last delivery. */
  route: DestinationRoute | undefined
  /** Deliveries that arrived; from the first one on. */
  delivered: Count | undefined
  /** Is among the turns: at most once. */
  isInTurn: boolean
  /** Has a ready delivery but no permit; asked again when a call ends. */
  isBlocked: boolean
  /** Is among the blocked queues, or was when it was asked out of turn. */
  isAmongBlocked: boolean
}

/** One event for one destination. */
export interface Delivery {
  readonly target: DestinationState
  readonly of: AdmittedRecord
  readonly event: EventHead
  /** The request body, one for all destinations. As bytes: the garbage collector copies a string while it waits. */
  readonly body: Buffer
  /** Set on first attempts, which must not overtake each other; retries block no other. */
  readonly orderKey: string | undefined
  carried: DeliveryState
}

/** The earlier of the two times: a producer may claim any, but an event was received before the broker appended it. */
export function receivedAtOf({
  event: { receivedAt },
  carried: { origin },
}: Pick<Delivery, 'event' | 'carried'>): EpochMs {
  return origin.timestamp < 0 || receivedAt < origin.timestamp ? receivedAt : origin.timestamp
}
