import { createEventCodec } from '../adapters/avro.ts'
import { systemClock as clock } from '../adapters/clock.ts'
import { createOpsServer } from '../adapters/http/ops.ts'
import { createAdmin } from '../adapters/kafka/admin.ts'
import { createKafka, type KafkaClient } from '../adapters/kafka/client.ts'
import { createConsumer } from '../adapters/kafka/consumer.ts'
import { createProducer } from '../adapters/kafka/producer.ts'
import { createMetrics } from '../adapters/metrics.ts'
import { createRegistry } from '../adapters/registry.ts'
import { createChosenTransport } from '../adapters/webhook/choose.ts'
import { createRouting, type Routing } from '../core/delivery/route.ts'
import type { Health } from '../core/health.ts'
import type { Metrics } from '../core/metrics.ts'
import type { LogConsumer, Logger } from '../core/ports.ts'
import type { NetworkSettings, PayloadSettings, Settings } from '../core/settings.ts'
import { topicNames, topicSpecs } from '../core/topics.ts'
import { createDispatcherService, type DispatcherService } from '../services/dispatcher/service.ts'
import { Lifecycle } from './lifecycle.ts'

interface Deps {
  readonly settings: Settings
  readonly logger: Logger
  /** The process cannot go on: it must exit with 1. */
  readonly onFatal: (error: Error) => void
}

/** The services of one process, wired to the real world. */
export interface Composition {
  readonly metrics: Metrics
  /**
   * Resolves when everything runs, with the URL of the operators' server.
   * @throws TopicsMissing, and what the parts throw; nothing is left running then.
   */
  start(): Promise<{ readonly ops: string }>
  /** Drains, commits and ends everything. */
  stop(): Promise<void>
  /** Takes over what is live of a changed configuration. */
  apply(settings: Settings): void
}

/** Services do not start without their topics: auto-created ones would have the wrong partitions and retention. */
export class TopicsMissing extends Error {
  override readonly name = 'TopicsMissing'
  readonly code = 'topics_missing'
}

/** What changes without a restart, swapped whole. */
interface Live {
  readonly routing: Routing
  readonly payload: PayloadSettings
  readonly network: NetworkSettings
}

const liveOf = (settings: Settings): Live => ({
  routing: createRouting(settings),
  payload: settings.payload,
  network: settings.network,
})

const starting: Health = { live: [], ready: [{ name: 'groups', ok: false, detail: 'starting' }] }

export function compose(deps: Deps): Composition {
  const { settings, logger } = deps
  const lifecycle = new Lifecycle(logger)
  const { metrics, ...exposition } = createMetrics()
  let live = liveOf(settings)
  let dispatcher: DispatcherService | undefined
  exposition.onCollect(() => dispatcher?.refreshGauges())

  async function start(): Promise<{ ops: string }> {
    let ops = ''
    const health = (): Health => dispatcher?.health() ?? starting
    const server = createOpsServer({ listen: settings.ops.listen, health, metrics: exposition })
    await lifecycle.start({ name: 'ops server', start: async () => (ops = await server.start()), stop: server.stop })
    const created = await createDispatcher(deps, lifecycle, metrics, () => live)
    dispatcher = created
    await lifecycle.start({ name: 'dispatcher', start: created.start, stop: created.stop })
    return { ops }
  }

  return {
    metrics,
    start: () =>
      start().catch(async error => {
        await lifecycle.stop()
        throw error
      }),
    stop: () => lifecycle.stop(),
    apply: changed => {
      live = liveOf(changed)
    },
  }
}

async function createDispatcher(
  { settings, logger, onFatal }: Deps,
  lifecycle: Lifecycle,
  metrics: Metrics,
  live: () => Live,
): Promise<DispatcherService> {
  const topics = topicNames(settings.topics.prefix)
  const kafka = createKafka(settings.kafka, logger)
  const existing = await existingTopics(settings, kafka)
  const registry = createRegistry(settings.registry)
  const codec = await createEventCodec({ registry, eventsTopic: topics.events, clock })
  const producer = createProducer({ kafka, clock, logger })
  await lifecycle.start({ name: 'producer', stop: () => producer.stop() })
  const transport = await createChosenTransport(settings.delivery.transport, {
    network: () => live().network,
    timeout: settings.delivery.timeout,
    clock,
  })
  await lifecycle.start({ name: 'webhook transport', stop: () => transport.close() })
  const consumerOf = (groupId: string, names: readonly string[]): LogConsumer =>
    createConsumer({
      ...{ kafka, groupId, topics: names, clock, logger, onFatal },
      onPositionLost: loss => {
        logger.error(loss, 'records gone before they were read: retention is too short, or the log was cut')
        metrics.positionsLost.inc({ topic: loss.topic }, Math.max(0, loss.to - loss.from))
      },
    })
  return createDispatcherService({
    live: consumerOf(topics.dispatcherGroup, [topics.events]),
    // Every tier that exists, so that a changed schedule strands nothing.
    retries: consumerOf(
      topics.retriesGroup,
      existing.filter(topic => topics.tierOf(topic) !== undefined),
    ),
    ...{ producer, codec, transport, clock, metrics, logger, topics },
    delivery: settings.delivery,
    routing: () => live().routing,
    payload: () => live().payload,
  })
}

async function existingTopics(settings: Settings, kafka: KafkaClient): Promise<readonly string[]> {
  const admin = createAdmin(kafka)
  try {
    const existing = await admin.listTopics()
    const missing = topicSpecs(settings.topics, settings.delivery.schedule).filter(
      ({ name }) => !existing.includes(name),
    )
    if (missing.length === 0) return existing
    throw new TopicsMissing(
      `topics are missing: ${missing.map(({ name }) => name).join(', ')}; create them with: hookline topics apply`,
    )
  } finally {
    await admin.close()
  }
}
