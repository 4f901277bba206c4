import type { DeliveryState } from '../../core/delivery/delivery-state.ts'
import type { CircuitBreaker } from '../../core/flow/circuit-breaker.ts'
import type { DestinationCalls } from '../../core/flow/concurrency-limiter.ts'
import type { DestinationQueue } from '../../core/flow/destination-queue.ts'
import type { RateBudget } from '../../core/flow/rate-budget.ts'
import type { SlowDown } from '../../core/flow/slow-down.ts'
import type { Counts } from '../../core/live-status/result-counts.ts'
import type { EventHead } from '../../core/message/event.ts'
import type { Count } from '../../core/metrics/metrics.ts'
import type { EpochMs } from '../../core/time.ts'
import type { AdmittedRecord } from './admitted-record.ts'
import type { DestinationPlan } from './prepared-destination.ts'

/** The state of one destination: its queue, its circuit breaker, its requests in progress. */
export interface DestinationState extends DestinationCalls {
  readonly destination: string
  readonly queue: DestinationQueue<Delivery>
  readonly breaker: CircuitBreaker
  readonly slowDown: SlowDown
  /** Set at the first delivery with `policy.ratePerSecond`. */
  rate: RateBudget | undefined
  /** The plan of its last delivery. */
  plan: DestinationPlan | undefined
  /** The results that the next record of the status topic has. */
  readonly results: Counts
  /** Counter of successful deliveries; set at the first one. */
  delivered: Count | undefined
  /** Whether it has a scheduled turn in `DestinationQueues`; it has at most one. */
  isInTurn: boolean
  /**
   * Whether it has a ready delivery but no free permit. It gets a turn again when a request ends.
   */
  isBlocked: boolean
  /** When its timer gives it a turn again, in monotonic milliseconds; `Infinity` without a timer. */
  wakesAt: number
  /** The latest turn that a delivery got when it left memory, in monotonic milliseconds. */
  lastTurn: number
  /** Whether it is in the list of blocked queues. It may stay there after it was unblocked. */
  isAmongBlocked: boolean
}

/** One event for one destination. */
export interface Delivery {
  readonly target: DestinationState
  readonly of: AdmittedRecord
  readonly event: EventHead
  /**
   * The request body, shared by all destinations. It is a Buffer, because the garbage collector
   * would copy a string while the delivery waits.
   */
  readonly body: Buffer
  /**
   * The key whose deliveries keep their order, with `delivery.ordering: key`. Only first attempts
   * have one: retries block no other delivery.
   */
  readonly orderKey: string | undefined
  carried: DeliveryState
}

/**
 * When the event was received: its `receivedAt` or the time of its append, whichever is earlier. A
 * producer may claim any time, but an event is received before the broker appends it.
 */
export function receivedAtOf({
  event: { receivedAt },
  carried: { origin },
}: Pick<Delivery, 'event' | 'carried'>): EpochMs {
  return origin.timestamp < 0 || receivedAt < origin.timestamp ? receivedAt : origin.timestamp
}
