import { library } from '../../../packages/client/src/version.ts'
import { createAudienceInputCodec } from '../../adapters/audience-codecs.ts'
import { createEventCodec } from '../../adapters/avro.ts'
import { systemClock as clock, systemTime } from '../../adapters/clock.ts'
import { createKafka, type KafkaClient } from '../../adapters/kafka/kafkajs/client.ts'
import { createAdmin } from '../../adapters/kafka/log/admin.ts'
import { createFollower } from '../../adapters/kafka/log/follower.ts'
import { createProducer } from '../../adapters/kafka/producer/producer.ts'
import { createRegistry, type Registry } from '../../adapters/registry.ts'
import { type AudienceDirectory, audienceDirectory } from '../../core/audience/directory.ts'
import type { AudienceInput } from '../../core/audience/input.ts'
import { createSourceKeys, type SourceKeys } from '../../core/collector/source-keys.ts'
import { createRouting, type Routing } from '../../core/delivery/route.ts'
import type { Health } from '../../core/health.ts'
import type { Metrics } from '../../core/metrics.ts'
import type { AuditLog } from '../../core/operator-api.ts'
import { createFindOperatorKey, type FindOperatorKey } from '../../core/operator-keys.ts'
import type { Clock, EventCodec, Logger, LogProducer, ValueCodec } from '../../core/ports.ts'
import type { ServiceName } from '../../core/services.ts'
import type { CanarySettings, NetworkSettings, PayloadSettings, Settings } from '../../core/settings.ts'
import { receivedLasts, type TopicNames, topicNames, topicSpecs } from '../../core/topics.ts'
import type { Tracer } from '../../core/trace/tracer.ts'
import type { DurationMs } from '../../core/units.ts'
import { createMarks, type Marks } from '../../services/deletion/marks.ts'
import type { Lifecycle } from '../lifecycle.ts'
import { awaitKafka } from './await-kafka.ts'

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
export interface Surroundings {
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
export interface Foundation extends Surroundings {
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
  readonly marks: Marks
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
export async function layFoundation(
  surroundings: Surroundings,
  services: ReadonlySet<ServiceName>,
): Promise<Foundation> {
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
  const marks = createMarks({ follower, producer, topic: topics.suppressions, lasts, clock, logger })
  await lifecycle.start({ name: 'marks', start: marks.start, stop: marks.stop })
  const shared = { clock, topics, existingTopics, kafka, registry, codec, inputCodec, producer, marks, tracer }
  return { ...surroundings, ...shared }
}

/** Only who wants traces loads what makes them: it takes some 25 MB and 0.2 s. */
async function startTraces({ settings, lifecycle, logger, metrics }: Surroundings): Promise<Tracer | undefined> {
  if (settings.traces === undefined) return undefined
  const { createTraces } = await import('../../adapters/traces.ts')
  const { tracer, stop } = createTraces(settings.traces, { version: library.version, clock, logger, metrics })
  await lifecycle.start({ name: 'traces', stop })
  return tracer
}

/** How long marks of deleted users are kept, by the retention that the topics have now. */
async function marksLast(
  { topics, delivery }: Settings,
  kafka: KafkaClient,
  logger: Surroundings['logger'],
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
