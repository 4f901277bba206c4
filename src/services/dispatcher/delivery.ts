import type { DeliveryState } from '../../core/delivery/delivery-state.ts'
import type { CircuitBreaker } from '../../core/flow/circuit-breaker.ts'
import type { DestinationCalls } from '../../core/flow/concurrency-limiter.ts'
import type { DestinationQueue } from '../../core/flow/destination-queue.ts'
import type { DestinationRateLimit } from '../../core/flow/destination-rate-limit.ts'
import type { AttemptSample } from '../../core/flow/sampled-attempt-duration.ts'
import type { SlowDown } from '../../core/flow/slow-down-after-429.ts'
import type { Counts } from '../../core/live-status/result-counts-of-this-process.ts'
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
   * Whether the queue waits because other destinations hold the permits that it needs, or because
   * the process is opening too many connections.
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
   * Whether the queue must not start its ready deliveries until a request ends, or a limit permits
   * an attempt.
   */
  isBlocked: boolean
  /** When the timer of the queue fires, in monotonic milliseconds; `Infinity` without a timer. */
  wakesAt: number
  /**
   * The *turn* of the last delivery that moved to a retry topic: the estimated time, in monotonic
   * milliseconds, at which the limits permit its attempt. Later deliveries get later turns.
   */
  lastTurn: number
  /**
   * Whether the queue is in the list of blocked queues. A queue that has become unblocked is
   * removed only when it reaches the head of this list.
   */
  isAmongBlocked: boolean
}

/** One event for one destination. */
export interface Delivery {
  readonly target: DestinationState
  readonly of: AdmittedRecord
  readonly event: EventHead
  /**
   * The request body, the same for all destinations. It is a Buffer, because the garbage collector
   * would copy a string while the delivery waits.
   */
  readonly body: Buffer
  /**
   * Deliveries with the same key are made in order (`delivery.ordering: key`). `undefined` without
   * this setting, and for retries.
   */
  readonly orderKey: string | undefined
  carried: DeliveryState
}

/** The earlier of `receivedAt` and the append time. A producer may claim any `receivedAt`. */
export function receivedAtOf({
  event: { receivedAt },
  carried: { origin },
}: Pick<Delivery, 'event' | 'carried'>): EpochMs {
  return origin.timestamp < 0 || receivedAt < origin.timestamp ? receivedAt : origin.timestamp
}
