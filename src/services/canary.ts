import { type Event, keyOf } from '../core/message/event.ts'
import { canarySource, ownEvent } from '../core/message/own-event.ts'
import type { Metrics } from '../core/metrics/metrics.ts'
import type { Clock, EventCodec, Logger, LogProducer } from '../core/ports.ts'
import type { CanarySettings } from '../core/settings/settings.ts'
import type { TopicNames } from '../core/topics.ts'
import { type DurationMs, durationMs } from '../core/units.ts'
import { createPeriodicTask, type PeriodicTask } from './periodic-task.ts'

/** How soon a canary that is switched on is seen to be. */
const lookEvery = durationMs(5_000)

interface Deps {
  /** As of now; undefined: none is sent. */
  readonly canary: () => CanarySettings | undefined
  /** Whether it is this process that sends: one is enough. */
  readonly isOurs: () => boolean
  readonly codec: Pick<EventCodec, 'encode'>
  readonly producer: LogProducer
  readonly topics: Pick<TopicNames, 'events'>
  readonly clock: Clock
  readonly metrics: Metrics
  readonly logger: Logger
}

/**
 * Sends heartbeats: track messages of a source of our own for one destination, each of another user, so that all partitions get their turn.
 * They go the way of every event from its append on; who settles them (`settle.ts`) counts what became of them.
 */
export function createCanary(deps: Deps): PeriodicTask {
  const { canary, isOurs, clock } = deps

  function turn(): DurationMs {
    const settings = canary()
    if (settings !== undefined && isOurs()) send(deps, settings)
    return settings?.every ?? lookEvery
  }

  return createPeriodicTask({ clock, firstAfter: lookEvery, turn })
}

function send({ codec, producer, topics, clock, metrics, logger }: Deps, { destination }: CanarySettings): void {
  const event = heartbeat(destination, clock)
  const key = keyOf(event.message)
  const record = { key: key === undefined ? null : Buffer.from(key), value: codec.encode(event), headers: {} }
  metrics.canarySent.inc({})
  producer.append(topics.events, record, error => {
    if (error === undefined) return
    metrics.canaryLost.inc({ reason: 'not_stored' })
    logger.warn({ topic: topics.events, destination, error: error.message }, 'heartbeat not stored')
  })
}

function heartbeat(destinationId: string, clock: Clock): Event {
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
