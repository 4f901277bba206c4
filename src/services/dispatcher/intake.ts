import { Chain } from '../../core/chain.ts'
import { type Carried, firstCarried, parseCarried } from '../../core/delivery/carried.ts'
import { bodyOf } from '../../core/delivery/payload.ts'
import { firstStood } from '../../core/delivery/replay.ts'
import { type Routing, route } from '../../core/delivery/route.ts'
import { type Event, headOf, keyOf, normaliseEvent } from '../../core/message/event.ts'
import type { Metrics } from '../../core/metrics.ts'
import type { Clock, EventCodec, Logger, LogRecord } from '../../core/ports.ts'
import type { DeliverySettings, PayloadSettings } from '../../core/settings.ts'
import type { TopicNames } from '../../core/topics.ts'
import { createSchemaWait, type WaitForSchema } from '../partitions/schema-wait.ts'
import type { Shard } from '../partitions/shard.ts'
import { OpenRecord } from './delivery.ts'
import type { Dispatcher } from './dispatcher.ts'
import type { Settle } from './settle.ts'

interface Deps {
  readonly codec: EventCodec
  readonly routing: () => Routing
  readonly payload: () => PayloadSettings
  readonly delivery: Pick<DeliverySettings, 'window' | 'ordering'>
  readonly topics: TopicNames
  readonly clock: Clock
  readonly metrics: Metrics
  readonly logger: Logger
  readonly settle: Settle
  readonly dispatcher: Pick<Dispatcher, 'laneOf' | 'enqueue' | 'pump'>
}

/** Takes records up: decodes, normalises what foreign producers wrote, routes, and hands each delivery on. */
export class Intake {
  readonly #deps: Deps
  readonly #waitForSchema: WaitForSchema<OpenRecord>
  readonly #open = new Chain<OpenRecord>()

  constructor(deps: Deps) {
    this.#deps = deps
    this.#waitForSchema = createSchemaWait({
      ...deps,
      pump: deps.dispatcher.pump,
      decode: open => this.#decode(open),
      unknown: open => deps.settle.refused(open, 'undecodable', { carried: parkedIn(open.record, deps.topics) }),
    })
  }

  /** Records taken up and not done, oldest first. */
  get open(): Iterable<OpenRecord> & { readonly size: number } {
    return this.#open
  }

  /** The partition may be another's: none of its records is ours to finish. */
  forget(shard: Shard): void {
    for (const open of this.#open) if (open.shard === shard) this.#takeOff(open)
  }

  take(record: LogRecord, shard: Shard): void {
    const open = new OpenRecord(record, shard, this.#deps.clock.monotonic(), this)
    this.#open.add(open)
    this.#decode(open)
  }

  /** Nothing is left to be done of a record. */
  done(open: OpenRecord): void {
    this.#takeOff(open)
    open.shard.done(open.record)
  }

  /** What was forgotten may still be done. */
  #takeOff(open: OpenRecord): void {
    if (open.isOpen) this.#open.remove(open)
    open.isOpen = false
  }

  #decode(open: OpenRecord): void {
    const { codec, topics } = this.#deps
    const { record } = open
    const carried = parkedIn(record, topics)
    if (carried === undefined && topics.tierOf(record.topic) !== undefined)
      return this.#refuseBytes(open, 'headers of a parked delivery are missing or malformed')
    if (record.value === null) return this.#refuseBytes(open, 'the value is null', carried)
    const decoded = codec.decode(record.value, (carried?.origin ?? firstStood(record)).timestamp)
    switch (decoded.kind) {
      case 'event':
        return decoded.event.canonical
          ? this.#accept(open, decoded.event, carried)
          : this.#normalise(open, decoded.event, carried)
      case 'schema_needed':
        return this.#waitForSchema(open, decoded.schemaId)
      case 'undecodable':
        return this.#refuseBytes(open, decoded.detail, carried)
    }
  }

  #refuseBytes(open: OpenRecord, detail: string, carried?: Carried): void {
    this.#deps.logger.warn({ ...positionOf(open.record), detail }, 'event cannot be decoded')
    this.#deps.settle.refused(open, 'undecodable', { carried })
  }

  #normalise(open: OpenRecord, foreign: Event, carried: Carried | undefined): void {
    const { logger, metrics, settle } = this.#deps
    const { topic, partition, offset } = firstStood(open.record)
    // From the position, not from chance: the message has the same id whenever its record, or a copy of it, is read.
    const newId = (): string => carried?.messageId ?? `${topic}/${partition}/${offset}`
    const normalised = normaliseEvent(foreign, newId)
    if (normalised.kind === 'rejected') {
      logger.warn(
        { ...positionOf(open.record), code: normalised.code, detail: normalised.message },
        'event is not valid',
      )
      return settle.refused(open, 'invalid_message', { code: normalised.code, carried })
    }
    if (normalised.droppedKeys > 0) metrics.droppedKeys.inc({}, normalised.droppedKeys)
    this.#accept(open, normalised.event, carried)
  }

  #accept(open: OpenRecord, event: Event, carried: Carried | undefined): void {
    if (carried !== undefined) {
      this.#deliver(open, event, undefined, [carried])
      return open.release()
    }
    const { clock, delivery, routing, settle } = this.#deps
    const routed = route(event, routing())
    if (routed.kind === 'dead_lettered') return settle.refused(open, routed.reason, { carried: namesIn(event), event })
    for (const drop of routed.drops) settle.dropped(open, event, drop)
    const orderKey = delivery.ordering === 'key' ? keyOf(event.message) : undefined
    const { record } = open
    const stood = firstStood(record)
    const origin = stood === record ? record : { ...positionOf(record), timestamp: stood.timestamp }
    const { messageId } = event.message
    const first = routed.destinations.map(({ id }) => firstCarried(origin, id, messageId, clock.now(), delivery.window))
    this.#deliver(open, event, orderKey, first)
    open.release()
  }

  /** To all of its destinations. The event itself is let go, with its texts. */
  #deliver(of: OpenRecord, event: Event, orderKey: string | undefined, each: readonly Carried[]): void {
    if (each.length === 0) return
    const { dispatcher } = this.#deps
    const head = headOf(event)
    const body = Buffer.from(bodyOf(event.message, this.#deps.payload()))
    for (const carried of each) {
      of.hold()
      of.shard.routed(of.record, carried.destination)
      const lane = dispatcher.laneOf(carried.destination)
      dispatcher.enqueue({ lane, of, event: head, body, orderKey, carried })
    }
  }
}

/** What a parked delivery carries; undefined for others, and for what is no delivery of ours. */
function parkedIn({ topic, headers }: LogRecord, topics: TopicNames): Carried | undefined {
  return topics.tierOf(topic) === undefined ? undefined : parseCarried(headers)
}

/** What a dead letter can name that never became a delivery. */
function namesIn({ destinationId, message }: Event): Partial<Carried> {
  return { messageId: message.messageId, ...(destinationId !== undefined && { destination: destinationId }) }
}

function positionOf({ topic, partition, offset }: LogRecord): { topic: string; partition: number; offset: number } {
  return { topic, partition, offset }
}
