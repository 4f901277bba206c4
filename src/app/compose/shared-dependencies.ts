import { library } from '../../../packages/client/src/version.ts'
import { createAudienceInputCodec } from '../../adapters/avro/audience-codecs.ts'
import { createEventCodec } from '../../adapters/avro/event-codec.ts'
import { createRegistry, type Registry } from '../../adapters/avro/schema-registry.ts'
import { processClock as clock, processTime } from '../../adapters/clock/process-clock.ts'
import { type ConsumerDeps, createConsumer } from '../../adapters/kafka/group/consumer.ts'
import { skippedOffsets } from '../../adapters/kafka/group/lost-position.ts'
import { createKafka, type KafkaClient } from '../../adapters/kafka/kafkajs/client.ts'
import { createAdmin } from '../../adapters/kafka/log/topic-admin.ts'
import { createFollower } from '../../adapters/kafka/log/topic-follower.ts'
import { createProducer } from '../../adapters/kafka/producer/producer.ts'
import type { AudienceInput } from '../../core/audience/input.ts'
import type { Health } from '../../core/health.ts'
import type { ConsumerGroupLabel } from '../../core/metrics/kafka-metrics.ts'
import type { Metrics } from '../../core/metrics/metrics.ts'
import type { AuditLog } from '../../core/operator/audit-log.ts'
import type { Clock, EventCodec, LogConsumer, Logger, LogProducer, ValueCodec } from '../../core/ports.ts'
import type { ServiceName } from '../../core/settings/service-names.ts'
import type { Settings } from '../../core/settings/settings.ts'
import { type DurationMs, durationMs } from '../../core/time.ts'
import { maxDeliveryAge, type TopicNames, topicNames, topicSpecsOf } from '../../core/topics.ts'
import type { Tracer } from '../../core/trace/tracer.ts'
import type { ObjectStore } from '../../services/config-objects/object-store.ts'
import type { ObjectWriter } from '../../services/config-objects/object-writer.ts'
import { createSuppressionList, type SuppressionList } from '../../services/deletion/suppression-list.ts'
import type { Lifecycle } from '../lifecycle.ts'
import { awaitKafka } from './await-kafka.ts'
import { awaitSetup, TopicsMissing } from './await-setup.ts'
import type { LiveSettings } from './live-settings.ts'
import type { MergedSettings } from './merged-settings.ts'
import { startObjectStore, startObjectWriter } from './start-config-objects.ts'

/** The settings, callbacks and instruments of one process, independent of its services. */
export interface ProcessContext {
  readonly settings: Settings
  readonly live: () => LiveSettings
  readonly merged: MergedSettings
  readonly lifecycle: Lifecycle
  readonly metrics: Metrics
  readonly logger: Logger
  readonly audit: AuditLog
  /** Called at a fatal error. The process must then exit with code 1. */
  readonly onFatal: (error: Error) => void
  /** Aborted when the process must stop, even during its start. */
  readonly stopAsked: AbortSignal
  /** Whether to wait for missing topics and schemas, and for the schema registry. */
  readonly waitForSetup: boolean
}

/** The clients, codecs and lists that all services of one process share. */
export interface SharedDependencies extends ProcessContext {
  readonly clock: Clock
  readonly topics: TopicNames
  /** All topics that existed at the start of this process. */
  readonly existingTopics: readonly string[]
  readonly kafka: KafkaClient
  readonly registry: Registry
  readonly codec: EventCodec
  readonly inputCodec: ValueCodec<AudienceInput>
  readonly producer: LogProducer
  /** The suppression list, completely read. */
  readonly suppressions: SuppressionList
  /**
   * The objects of the config topic, completely read; `undefined` without
   * `operator.encryptionKeyFile`.
   */
  readonly objectStore: ObjectStore | undefined
  /**
   * Writes to the config topic. `undefined` without this topic, or if neither the dispatcher nor
   * the operator service runs.
   */
  readonly objectWriter: ObjectWriter | undefined
  /** Starts spans; `undefined` when tracing is off. */
  readonly tracer: Tracer | undefined
}

export interface StartedService {
  health(): Health
  /** Sets the gauges to their current values. */
  refreshGauges(): void
  /** The topics to which the service still retries failed writes. */
  unwritableTopics?(): readonly string[]
}

/**
 * Waits for Kafka, and then creates the shared dependencies.
 * @throws an error of `awaitSetup` or of an adapter
 */
export async function createSharedDependencies(
  context: ProcessContext,
  services: ReadonlySet<ServiceName>,
): Promise<SharedDependencies> {
  const { settings, logger, lifecycle } = context
  const topics = topicNames(settings.topics.prefix)
  // Components stop in reverse order, so tracing stops last, and exports the spans of all
  // components.
  const tracer = await startTraces(context)
  const kafka = createKafka(settings.kafka, logger)
  const existingTopics = await awaitSetup(() => checkedTopics(settings, kafka, services), context)
  const registry = createRegistry(settings.registry)
  const codec = await awaitSetup(() => createEventCodec({ registry, eventsTopic: topics.events, clock }), context)
  const inputTopic = topics.audienceInput
  const inputCodec = await awaitSetup(() => createAudienceInputCodec({ registry, topic: inputTopic, clock }), context)
  // Retry records are due only after seconds, so a larger batch does not delay their deliveries.
  const prefersLargeBatches = (topic: string): boolean => topics.tierOf(topic) !== undefined
  const producer = createProducer({ kafka, clock, logger, prefersLargeBatches, onAppended: processTime.learn })
  await lifecycle.start({ name: 'producer', stop: () => producer.stop() })
  const follower = createFollower({ kafka, topic: topics.suppressions, clock, logger })
  const retention = await suppressionRetention(settings, kafka, logger)
  const suppressions = createSuppressionList({
    follower,
    producer,
    topic: topics.suppressions,
    retention,
    clock,
    logger,
  })
  await lifecycle.start({
    name: 'suppression list',
    start: () => awaitKafka(suppressions.start, context),
    stop: suppressions.stop,
  })
  const objectStore = await startObjectStore(context, { kafka, topics })
  const writesObjects = services.has('dispatcher') || services.has('operator')
  const objectWriter = writesObjects
    ? await startObjectWriter({ ...context, objectStore, producer, topics })
    : undefined
  const clients = { clock, kafka, registry, codec, inputCodec, producer, tracer }
  return { ...context, ...clients, topics, existingTopics, suppressions, objectStore, objectWriter }
}

/**
 * Starts tracing if it is configured. The tracing library is loaded only then, because it takes 25
 * MB and 0.2 s.
 */
async function startTraces({ settings, lifecycle, logger, metrics }: ProcessContext): Promise<Tracer | undefined> {
  if (settings.traces === undefined) return undefined
  const { createTraces } = await import('../../adapters/traces/traces.ts')
  const { tracer, stop } = createTraces(settings.traces, { version: library.version, clock, logger, metrics })
  await lifecycle.start({ name: 'traces', stop })
  return tracer
}

/** Reads the retention of the topics, and returns how long suppressions are kept. */
async function suppressionRetention(
  settings: Settings,
  kafka: KafkaClient,
  logger: ProcessContext['logger'],
): Promise<DurationMs> {
  const { topics } = settings
  const specs = topicSpecsOf(settings)
  const admin = createAdmin(kafka)
  const notRead =
    'this process cannot read the retention time of the topics from Kafka (see "error"), so it never removes old records of user deletions: check Kafka, permit DescribeConfigs on the topics, then restart the process'
  try {
    return maxDeliveryAge(topicNames(topics.prefix), specs, await admin.describe(specs.map(({ name }) => name)))
  } catch (error) {
    logger.warn({ error: (error as Error).message }, notRead)
    // The retention is unknown, so keep suppressions for ever. Otherwise a replay could deliver
    // records of deleted users.
    return durationMs(Number.POSITIVE_INFINITY)
  } finally {
    await admin.close()
  }
}

async function checkedTopics(
  settings: Settings,
  kafka: KafkaClient,
  services: ReadonlySet<ServiceName>,
): Promise<readonly string[]> {
  const admin = createAdmin(kafka)
  try {
    const existing = await admin.listTopics()
    const missing = topicSpecsOf(settings)
      .filter(({ requiredBy }) => requiredBy.some(service => services.has(service)))
      .filter(({ name }) => !existing.includes(name))
    if (missing.length === 0) return existing
    throw new TopicsMissing(
      `topics are missing: ${missing.map(({ name }) => name).join(', ')}; create them with: hookline topics apply`,
    )
  } finally {
    await admin.close()
  }
}

interface Membership extends Pick<ConsumerDeps, 'groupId' | 'topics' | 'maxWait' | 'maxWaitWhilePaused' | 'fetch'> {
  readonly group: ConsumerGroupLabel
  /** The log text when Kafka deleted records before they were read. */
  readonly onLoss: string
}

/** Creates a member of a consumer group, with metrics. */
export function createGroupConsumer(
  {
    kafka,
    clock,
    logger,
    metrics,
    onFatal,
    stopAsked,
  }: Pick<SharedDependencies, 'kafka' | 'clock' | 'logger' | 'metrics' | 'onFatal' | 'stopAsked'>,
  { group, onLoss, ...membership }: Membership,
): LogConsumer {
  // Without a series at 0, Prometheus does not see the first increase.
  for (const topic of membership.topics) metrics.positionsLost.inc({ topic }, 0)
  return createConsumer({
    ...membership,
    kafka,
    clock,
    logger,
    onFatal,
    stopAsked,
    repeatUntilAnswered: ask => awaitKafka(ask, { logger, stopAsked }),
    onCommit: result => metrics.commits.inc({ group, result }),
    onPositionLost: loss => {
      logger.error(loss, onLoss)
      metrics.positionsLost.inc({ topic: loss.topic }, skippedOffsets(loss))
    },
  })
}
