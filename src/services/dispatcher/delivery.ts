import type { LinkedListItem } from '../../core/collections/linked-list.ts'
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
interface DoneListener {
  done(open: AdmittedRecord): void
}

/**
 * A record from its admission until it is done. The intake and each of its deliveries retain it; the
 * last `release` makes it done. Its offset is committed only then, so a crash loses no delivery.
 */
export class AdmittedRecord implements LinkedListItem<AdmittedRecord> {
  readonly record: LogRecord
  readonly processor: PartitionProcessor
  /** When it was admitted, in monotonic milliseconds. */
  readonly admittedAt: number
  /** False once it is done or forgotten. */
  isOpen = true
  before: AdmittedRecord | undefined = undefined
  after: AdmittedRecord | undefined = undefined
  #holders = 1
  readonly #listener: DoneListener

  constructor(record: LogRecord, processor: PartitionProcessor, admittedAt: number, listener: DoneListener) {
    this.record = record
    this.processor = processor
    this.admittedAt = admittedAt
    this.#listener = listener
  }

  retain(): void {
    this.#holders++
  }

  /** Notes that a destination is done with the record. */
  doneFor(destination: string): void {
    if (this.#holders > 1) this.processor.partlyDone(this.record, destination)
  }

  release(): void {
    if (--this.#holders === 0) this.#listener.done(this)
  }
}

/** The state of one destination: its queue, its circuit breaker, its requests in progress. */
export interface DestinationState extends DestinationCalls {
  readonly destination: string
  readonly queue: DestinationQueue<Delivery>
  readonly breaker: CircuitBreaker
  /** The route of its last delivery. */
  route: DestinationRoute | undefined
  /** Counter of successful deliveries; set at the first one. */
  delivered: Count | undefined
  /** Whether it has a scheduled turn in `DestinationQueues`; it has at most one. */
  isInTurn: boolean
  /**
   * Whether it has a ready delivery but no free permit. It gets a turn again when a request ends.
   */
  isBlocked: boolean
  /** Whether it is in the list of blocked queues. It may stay there after it was unblocked. */
  isAmongBlocked: boolean
}

/** One event for one destination. */
export interface Delivery {
  readonly target: DestinationState
  readonly of: AdmittedRecord
  readonly event: EventHead
  /**
   * The request body, shared by all destinations. Bytes, because the garbage collector would copy a
   * waiting string.
   */
  readonly body: Buffer
  /**
   * The key whose deliveries keep their order. Only first attempts have one; retries block no other
   * delivery.
   */
  readonly orderKey: string | undefined
  carried: DeliveryState
}

/**
 * When the event was received: its own time or that of the append, whichever is earlier. A producer
 * may claim any time, but an event is received before the broker appends it.
 */
export function receivedAtOf({
  event: { receivedAt },
  carried: { origin },
}: Pick<Delivery, 'event' | 'carried'>): EpochMs {
  return origin.timestamp < 0 || receivedAt < origin.timestamp ? receivedAt : origin.timestamp
}
