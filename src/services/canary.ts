import { type Event, keyOf } from '../core/message/event.ts'
import { canarySource, ownEvent } from '../core/message/own-event-builder-and-source-ids.ts'
import type { Metrics } from '../core/metrics/metrics.ts'
import type { Clock, EventCodec, Logger, LogProducer } from '../core/ports.ts'
import type { CanarySettings } from '../core/settings/settings.ts'
import { type DurationMs, durationMs } from '../core/time.ts'
import type { TopicNames } from '../core/topics.ts'
import { createPeriodicTask, type PeriodicTask } from './periodic-task.ts'

/** How often the process reads the settings of the canary, which can change without a restart. */
const checkEvery = durationMs(5_000)

interface Deps {
  /** Returns the settings; `undefined` when the canary is off. */
  readonly canary: () => CanarySettings | undefined
  /** Whether this process sends the canary messages. Only one process does. */
  readonly sendsMessages: () => boolean
  readonly codec: Pick<EventCodec, 'encode'>
  readonly producer: LogProducer
  readonly topics: Pick<TopicNames, 'events'>
  readonly clock: Clock
  readonly metrics: Metrics
  readonly logger: Logger
}

/**
 * Sends canary messages to one destination. Each message has a new anonymous id as its record key,
 * so that all partitions get messages.
 */
export function createCanary(deps: Deps): PeriodicTask {
  const { canary, sendsMessages, clock } = deps
  /** When a message was last due, in monotonic ms; `undefined` while the canary is off. */
  let last: { readonly at: number; readonly destination: string } | undefined

  function run(): DurationMs {
    const settings = canary()
    if (settings === undefined) {
      last = undefined
      return checkEvery
    }
    const { destination, every } = settings
    const now = clock.monotonic()
    if (last?.destination !== destination || now - last.at >= every) {
      last = { at: now, destination }
      if (sendsMessages()) send(deps, settings)
    }
    return durationMs(Math.min(checkEvery, last.at + every - now))
  }

  return createPeriodicTask({ clock, firstRunAfter: checkEvery, run })
}

function send({ codec, producer, topics, clock, metrics, logger }: Deps, { destination }: CanarySettings): void {
  const event = canaryMessage(destination, clock)
  const key = keyOf(event.message)
  const record = { key: key === undefined ? null : Buffer.from(key), value: codec.encode(event), headers: {} }
  metrics.canarySent.inc({})
  producer.append(topics.events, record, error => {
    if (error === undefined) return
    metrics.canaryLost.inc({ reason: 'not_stored' })
    logger.warn(
      { topic: topics.events, destination, error: error.message },
      'Kafka did not store a canary message (see "error"), so one check of the path to an endpoint is missing; hookline writes the next canary message after the time in canary.every; if this line repeats, check the Kafka brokers',
    )
  })
}

function canaryMessage(destinationId: string, clock: Clock): Event {
  const id = clock.id()
  return ownEvent({
    type: 'track',
    messageId: `canary-${id}`,
    anonymousId: id,
    event: 'Hookline Heartbeat',
    sourceId: canarySource,
    destinationId,
    at: clock.now(),
  })
}
