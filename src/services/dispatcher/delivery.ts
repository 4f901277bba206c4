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

export interface DestinationState extends DestinationCalls {
  readonly destination: string
  readonly queue: DestinationQueue<Delivery>
  readonly breaker: CircuitBreaker
  readonly slowDown: SlowDown
  readonly attempts: AttemptSample
  /**
   * Whether the queue last had to wait for the process: other destinations hold its permits
   * (`ConcurrencyLimiter.hasFairShare`), or too many requests open a connection.
   */
  waitsForProcess: boolean
  /** Set at the first delivery with `policy.ratePerSecond`. */
  rate: DestinationRateLimit | undefined
  /** How deliveries of the destination are handled (`planOf`), as of the last delivery. */
  plan: DestinationPlan | undefined
  /** The results for the next record of the status topic. */
  readonly results: Counts
  /** Counter of successful deliveries; set at the first one. */
  delivered: Count | undefined
  /** Whether the queue is in the list of queues that may start a delivery next. */
  isInTurn: boolean
  /**
   * Whether a ready delivery may not start, because no permit is free or a limit of the destination
   * forbids it. The queue is tried again when a request ends or the limit permits an attempt.
   */
  isBlocked: boolean
  /**
   * When the timer of the queue fires, because a limit of the destination permits an attempt again.
   * Monotonic milliseconds; `Infinity` without a timer.
   */
  wakesAt: number
  /**
   * The scheduled time of the last delivery that spillover moved to a retry topic, in monotonic
   * milliseconds. The next one is scheduled after it.
   */
  lastTurn: number
  /**
   * Whether the queue is in the list of queues that wait for a permit. An unblocked queue stays
   * there until it is the first.
   */
  isAmongBlocked: boolean
}

/** One event for one destination. */
export interface Delivery {
  readonly target: DestinationState
  readonly of: AdmittedRecord
  readonly event: EventHead
  /**
   * The request body, shared by all destinations. A Buffer, because the garbage collector would
   * copy a string while the delivery waits.
   */
  readonly body: Buffer
  /**
   * Deliveries with the same key are made in order (`delivery.ordering: key`). `undefined` without
   * this setting, and for retries.
   */
  readonly orderKey: string | undefined
  carried: DeliveryState
}

/** The earlier time of `receivedAt` and the append, because a producer may claim any time. */
export function receivedAtOf({
  event: { receivedAt },
  carried: { origin },
}: Pick<Delivery, 'event' | 'carried'>): EpochMs {
  return origin.timestamp < 0 || receivedAt < origin.timestamp ? receivedAt : origin.timestamp
}
