import { setTimeout as delay } from 'node:timers/promises'
import { library } from '../../../packages/client/src/version.ts'
import { createAudienceInputCodec } from '../../adapters/avro/audience-codecs.ts'
import { createEventCodec } from '../../adapters/avro/avro.ts'
import { createRegistry, type Registry } from '../../adapters/avro/schema-registry.ts'
import { systemClock as clock, systemTime } from '../../adapters/clock/clock.ts'
import { type ConsumerDeps, createConsumer } from '../../adapters/kafka/group/consumer.ts'
import { createKafka, type KafkaClient } from '../../adapters/kafka/kafkajs/client.ts'
import { isOutOfReach } from '../../adapters/kafka/kafkajs/errors.ts'
import { createAdmin } from '../../adapters/kafka/log/admin.ts'
import { createFollower } from '../../adapters/kafka/log/follower.ts'
import { createProducer } from '../../adapters/kafka/producer/producer.ts'
import { type AudienceDirectory, audienceDirectory } from '../../core/audience/directory.ts'
import type { AudienceInput } from '../../core/audience/input.ts'
import { createSourceKeys, type SourceKeys } from '../../core/collector/source-keys.ts'
import { createRouting, type Routing } from '../../core/delivery/route.ts'
import type { Health } from '../../core/health.ts'
import type { ConsumerGroupLabel } from '../../core/metrics/kafka-metrics.ts'
import type { Metrics } from '../../core/metrics/metrics.ts'
import type { AuditLog } from '../../core/operator/operator-api.ts'
import { createFindOperatorKey, type FindOperatorKey } from '../../core/operator/operator-keys.ts'
import type { Clock, EventCodec, LogConsumer, Logger, LogProducer, ValueCodec } from '../../core/ports.ts'
import type { ServiceName } from '../../core/settings/service-names.ts'
import type { CanarySettings, NetworkSettings, PayloadSettings, Settings } from '../../core/settings/settings.ts'
import { receivedLasts, type TopicNames, topicNames, topicSpecs } from '../../core/topics.ts'
import type { Tracer } from '../../core/trace/tracer.ts'
import type { DurationMs } from '../../core/units.ts'
import { createSuppressionList, type SuppressionList } from '../../services/deletion/suppression-list.ts'
import type { Lifecycle } from '../lifecycle.ts'

/** What changes without a restart, swapped whole. */
export interface Live {
  readonly routing: Routing
  readonly sourceKeys: SourceKeys
  /** Of the operator API's own listener. */
  readonly findOperatorKey: FindOperatorKey
  readonly payload: PayloadSettings
  readonly network: NetworkSettings
  readonly audiences: AudienceDirectory
  /** Identify messages that syncs may emit in this process. */
  readonly emitPerSecond: number
  /** Undefined: no heartbeats. */
  readonly canary: CanarySettings | undefined
}

export const liveOf = (settings: Settings): Live => ({
  routing: createRouting(settings),
  sourceKeys: createSourceKeys(settings.sources),
  findOperatorKey: createFindOperatorKey(settings.operator.keys),
  payload: settings.payload,
  network: settings.network,
  audiences: audienceDirectory(settings),
  emitPerSecond: settings.audiences.emitPerSecond,
  canary: settings.canary,
})

/** What one process is made of, whatever runs in it. */
export interface ProcessContext {
  readonly settings: Settings
  readonly live: () => Live
  readonly lifecycle: Lifecycle
  readonly metrics: Metrics
  readonly logger: Logger
  readonly audit: AuditLog
  /** The process cannot go on: it must exit with 1. */
  readonly onFatal: (error: Error) => void
  /** Aborted when the process is to stop, also while it starts. */
  readonly stopAsked: AbortSignal
}

/** What all services of one process share. */
export interface SharedDependencies extends ProcessContext {
  readonly clock: Clock
  readonly topics: TopicNames
  /** The names of all topics of the cluster. */
  readonly existingTopics: readonly string[]
  readonly kafka: KafkaClient
  readonly registry: Registry
  readonly codec: EventCodec
  readonly inputCodec: ValueCodec<AudienceInput>
  readonly producer: LogProducer
  /** Of deleted users; all that there are when the foundation is laid. */
  readonly marks: SuppressionList
  /** Undefined: there are no traces. */
  readonly tracer: Tracer | undefined
}

/** A service, running. */
export interface RunningPart {
  health(): Health
  /** Sets the gauges to what holds now. */
  refreshGauges(): void
}

/** Services do not start without their topics: auto-created ones would have the wrong partitions and retention. */
export class TopicsMissing extends Error {
  override readonly name = 'TopicsMissing'
  readonly code = 'topics_missing'
}

/** Waits for Kafka. @throws TopicsMissing, and what the adapters throw. */
export async function createSharedDependencies(
  surroundings: ProcessContext,
  services: ReadonlySet<ServiceName>,
): Promise<SharedDependencies> {
  const { settings, logger, lifecycle } = surroundings
  const topics = topicNames(settings.topics.prefix)
  // First, so that it is stopped last: what the others still do is sent too.
  const tracer = await startTraces(surroundings)
  const kafka = createKafka(settings.kafka, logger)
  const existingTopics = await awaitKafka(() => checkedTopics(settings, kafka, services), surroundings)
  const registry = createRegistry(settings.registry)
  const codec = await createEventCodec({ registry, eventsTopic: topics.events, clock })
  const inputCodec = await createAudienceInputCodec({ registry, topic: topics.audienceInput, clock })
  // What is parked waits anyway, mostly for seconds and more.
  const prefersLargeBatches = (topic: string): boolean => topics.tierOf(topic) !== undefined
  const producer = createProducer({ kafka, clock, logger, prefersLargeBatches, onAppended: systemTime.learn })
  await lifecycle.start({ name: 'producer', stop: () => producer.stop() })
  const follower = createFollower({ kafka, topic: topics.suppressions, clock, logger })
  const lasts = await marksLast(settings, kafka, logger)
  const marks = createSuppressionList({ follower, producer, topic: topics.suppressions, lasts, clock, logger })
  await lifecycle.start({ name: 'marks', start: marks.start, stop: marks.stop })
  const shared = { clock, topics, existingTopics, kafka, registry, codec, inputCodec, producer, marks, tracer }
  return { ...surroundings, ...shared }
}

/** Only who wants traces loads what makes them: it takes some 25 MB and 0.2 s. */
async function startTraces({ settings, lifecycle, logger, metrics }: ProcessContext): Promise<Tracer | undefined> {
  if (settings.traces === undefined) return undefined
  const { createTraces } = await import('../../adapters/traces/traces.ts')
  const { tracer, stop } = createTraces(settings.traces, { version: library.version, clock, logger, metrics })
  await lifecycle.start({ name: 'traces', stop })
  return tracer
}

/** How long marks of deleted users are kept, by the retention that the topics have now. */
async function marksLast(
  { topics, delivery }: Settings,
  kafka: KafkaClient,
  logger: ProcessContext['logger'],
): Promise<DurationMs> {
  const specs = topicSpecs(topics, delivery.schedule, delivery)
  const admin = createAdmin(kafka)
  try {
    return receivedLasts(topicNames(topics.prefix), specs, await admin.describe(specs.map(({ name }) => name)))
  } catch (error) {
    const fields = { error: (error as Error).message }
    logger.warn(fields, 'retention of the topics cannot be read: deletions hold for as long as it is by default')
    return receivedLasts(topicNames(topics.prefix), specs, [])
  } finally {
    await admin.close()
  }
}

async function checkedTopics(
  { topics, delivery }: Settings,
  kafka: KafkaClient,
  services: ReadonlySet<ServiceName>,
): Promise<readonly string[]> {
  const admin = createAdmin(kafka)
  try {
    const existing = await admin.listTopics()
    const missing = topicSpecs(topics, delivery.schedule, delivery)
      .filter(({ usedBy }) => usedBy.some(service => services.has(service)))
      .filter(({ name }) => !existing.includes(name))
    if (missing.length === 0) return existing
    throw new TopicsMissing(
      `topics are missing: ${missing.map(({ name }) => name).join(', ')}; create them with: hookline topics apply`,
    )
  } finally {
    await admin.close()
  }
}

const againAfterMs = 2_000

/**
 * Asks Kafka again until a broker answers: while none can be reached there is nothing that a restart would change.
 * @throws what else goes wrong, and as soon as the process is to stop
 */
async function awaitKafka<T>(
  ask: () => Promise<T>,
  { logger, stopAsked }: { readonly logger: Pick<Logger, 'warn'>; readonly stopAsked: AbortSignal },
): Promise<T> {
  const stopped = Promise.withResolvers<never>()
  stopped.promise.catch(() => undefined)
  const stop = (): void => stopped.reject(stopAsked.reason)
  stopAsked.addEventListener('abort', stop)
  if (stopAsked.aborted) stop()
  try {
    for (let isTold = false; ; isTold = true) {
      try {
        return await Promise.race([ask(), stopped.promise])
      } catch (error) {
        if (stopAsked.aborted || !isOutOfReach(error)) throw error
        if (!isTold) logger.warn({ error: (error as Error).message }, 'Kafka cannot be reached: the start waits for it')
      }
      await delay(againAfterMs, undefined, { signal: stopAsked })
    }
  } finally {
    stopAsked.removeEventListener('abort', stop)
  }
}

interface Membership extends Pick<ConsumerDeps, 'groupId' | 'topics' | 'maxWait' | 'maxWaitWhilePaused' | 'fetch'> {
  readonly group: ConsumerGroupLabel
  /** What it means, for the log, that records are gone before they were read. */
  readonly onLoss: string
}

/** A member of one of our groups, whose commits and losses are counted. */
export function createGroupConsumer(
  {
    kafka,
    clock,
    logger,
    metrics,
    onFatal,
  }: Pick<SharedDependencies, 'kafka' | 'clock' | 'logger' | 'metrics' | 'onFatal'>,
  { group, onLoss, ...membership }: Membership,
): LogConsumer {
  // Every series exists from the start: Prometheus sees no increase in a series that begins above 0.
  for (const topic of membership.topics) metrics.positionsLost.inc({ topic }, 0)
  return createConsumer({
    ...membership,
    kafka,
    clock,
    logger,
    onFatal,
    onCommit: result => metrics.commits.inc({ group, result }),
    onPositionLost: loss => {
      logger.error(loss, onLoss)
      metrics.positionsLost.inc({ topic: loss.topic }, Math.max(0, loss.to - loss.from))
    },
  })
}
