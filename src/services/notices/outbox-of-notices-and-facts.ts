import { createFirstFailureLog } from '../../core/logging/first-failure-log.ts'
import { type Event, keyOf } from '../../core/message/event.ts'
import type { Metrics } from '../../core/metrics/metrics.ts'
import type { EventCodec, Logger, LogProducer } from '../../core/ports.ts'
import type { TopicNames } from '../../core/topics.ts'

/** Maximum number of events that wait to be written, of about 1 KB each. */
const maxWaiting = 1_000
/** Maximum number of events of the outbox that are sent and not acknowledged by Kafka. */
const maxUnacknowledged = 200

interface Deps {
  readonly codec: Pick<EventCodec, 'encode'>
  readonly producer: LogProducer
  readonly topics: Pick<TopicNames, 'events'>
  readonly metrics: Pick<Metrics, 'notices'>
  readonly logger: Logger
}

/**
 * Writes notices and destination facts to the events topic. When too many events wait, new ones are
 * dropped.
 */
export class Outbox {
  readonly #deps: Deps
  #waiting: Event[] = []
  /** Events whose write failed, in order. The next `send` sends them first. */
  #failed: Event[] = []
  #unacknowledged = 0
  readonly #note: ReturnType<typeof createFirstFailureLog>

  constructor(deps: Deps) {
    this.#deps = deps
    this.#note = createFirstFailureLog(deps.logger, notWritten)
  }

  /** Number of events that the outbox can send now, besides the events that already wait. */
  get room(): number {
    return Math.max(0, maxUnacknowledged - this.#unacknowledged - this.#failed.length - this.#waiting.length)
  }

  add(event: Event): void {
    if (this.#waiting.length >= maxWaiting) return this.#deps.metrics.notices.inc({ result: 'dropped' })
    this.#waiting.push(event)
  }

  /** Sends waiting events, until `limit` events are unacknowledged. Call it regularly. */
  send(limit = maxUnacknowledged): void {
    this.#waiting = [...this.#failed, ...this.#waiting]
    this.#failed = []
    while (this.#unacknowledged < limit) {
      const event = this.#waiting.shift()
      if (event === undefined) return
      this.#append(event)
    }
  }

  /** Sends all waiting events and `events`, however many are unacknowledged. */
  sendAll(events: Iterable<Event>): void {
    this.send(Number.POSITIVE_INFINITY)
    for (const event of events) this.#append(event)
  }

  clear(): void {
    this.#waiting = []
    this.#failed = []
  }

  #append(event: Event): void {
    const { codec, producer, topics, metrics } = this.#deps
    const key = keyOf(event.message)
    const record = { key: key === undefined ? null : Buffer.from(key), value: codec.encode(event), headers: {} }
    this.#unacknowledged++
    producer.append(topics.events, record, error => {
      this.#unacknowledged--
      this.#note({ topic: topics.events }, error?.message)
      if (error === undefined) metrics.notices.inc({ result: 'written' })
      else this.#failed.push(event)
    })
  }
}

const notWritten =
  'hookline could not write notices (messages to notices.destination) to the events topic (see "error"); it keeps the notices in memory, and tries again; check Kafka with: hookline doctor'
