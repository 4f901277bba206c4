import type { DeliveryState } from '../../core/delivery/delivery-state.ts'
import type { CircuitBreaker } from '../../core/flow/circuit-breaker.ts'
import type { DestinationCalls } from '../../core/flow/concurrency-limiter.ts'
import type { DestinationQueue } from '../../core/flow/destination-queue.ts'
import type { DestinationRateLimit } from '../../core/flow/destination-rate-limit.ts'
import type { AttemptSample } from '../../core/flow/sampled-attempt-duration.ts'
import type { SlowDown } from '../../core/flow/slow-down-after-429.ts'
import type { Counts } from '../../core/live-status/result-counts.ts'
import type { EventHead } from '../../core/message/event.ts'
import type { Count } from '../../core/metrics/metrics.ts'
import type { EpochMs } from '../../core/time.ts'
import type { AdmittedRecord } from './admitted-record.ts'
import type { DestinationPlan } from './destination-delivery-plan.ts'

/** The state of one destination: its queue, its circuit breaker, its requests in progress. */
export interface DestinationState extends DestinationCalls {
  readonly destination: string
  readonly queue: DestinationQueue<Delivery>
  readonly breaker: CircuitBreaker
  readonly slowDown: SlowDown
  readonly attempts: AttemptSample
  /**
   * Whether the queue was refused a further permit when it was last tried, because other
   * destinations hold the permits of the process (`ConcurrencyLimiter.hasFairShare`).
   */
  waitsForProcess: boolean
  /**
   * The rate limit of the destination. Set at the first delivery with `policy.ratePerSecond`.
   */
  rate: DestinationRateLimit | undefined
  /** How deliveries of the destination are handled (`planOf`), as of its last delivery. */
  plan: DestinationPlan | undefined
  /**
   * The counts of the destination's results that the next record of the status topic will contain.
   */
  readonly results: Counts
  /** Counter of successful deliveries; set at the first one. */
  delivered: Count | undefined
  /**
   * Whether the queue is in the list of queues that may start a delivery next. A queue is in this
   * list at most once.
   */
  isInTurn: boolean
  /**
   * Whether the queue has a ready delivery that may not start, because no permit is free or because
   * of a limit of the destination. The queue is tried again when a request ends or the limit
   * permits an attempt.
   */
  isBlocked: boolean
  /**
   * When the timer of the queue fires, in monotonic milliseconds; `Infinity` without a timer. The
   * queue is then tried again, because a limit of its destination permits an attempt again.
   */
  wakesAt: number
  /**
   * The time for which the last spilled delivery of the destination is scheduled, in monotonic
   * milliseconds. Spillover moves deliveries from memory to a retry topic, and schedules each of
   * them after the previous one.
   */
  lastTurn: number
  /**
   * Whether the list of queues that wait for a permit has this queue, so that it is not added
   * twice. A queue that is unblocked earlier stays in the list until it is the first one.
   */
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
   * The key that orders deliveries. With `delivery.ordering: key`, deliveries with the same key are
   * made in order. `undefined` without this setting, and for retries, which block no other
   * delivery.
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
