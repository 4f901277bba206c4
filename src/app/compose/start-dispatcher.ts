import { processTime } from '../../adapters/clock/process-clock.ts'
import { watchEventLoop } from '../../adapters/clock/watch-cpu-saturation.ts'
import { smallFetchSize } from '../../adapters/kafka/group/fetch-size-limits.ts'
import { partitionCount } from '../../adapters/kafka/log/topic-admin.ts'
import { createProducer } from '../../adapters/kafka/producer/producer.ts'
import { createChosenTransport } from '../../adapters/webhook/got-or-undici-transport.ts'
import { isObjectRecord } from '../../core/config-objects/object-record.ts'
import { flowLimits } from '../../core/flow/flow-control-constants.ts'
import type { LogProducer } from '../../core/ports.ts'
import { FailureWatch } from '../../services/auto-disable/failure-watch.ts'
import {
  createDispatcherService,
  type DispatcherDeps,
  type DispatcherService,
} from '../../services/dispatcher/dispatcher.ts'
import { createBrokerTime } from '../../services/learn-broker-time.ts'
import { startEndOffsetReader } from './create-read-end-offsets.ts'
import { createGroupConsumer, type SharedDependencies } from './shared-dependencies.ts'
import { startTokenClient } from './start-token-client.ts'

const { maxWait, maxWaitWhilePaused } = flowLimits.fetch
const onLoss =
  'Kafka deleted records before Hookline read them, so Hookline cannot deliver them; the runbook HooklineRecordsLost says why this happens and what to do'

/** Starts the dispatcher. Resolves when its two consumers have joined their groups. */
export async function startDispatcher(shared: SharedDependencies): Promise<DispatcherService> {
  const { settings, live, lifecycle, metrics, clock, logger, topics, producer, codec, suppressions, tracer, kafka } =
    shared
  const transport = await createChosenTransport(settings.delivery.transport, {
    network: () => live().network,
    timeout: settings.delivery.timeout,
    clock,
  })
  await lifecycle.start({ name: 'HTTP client for webhooks', stop: () => transport.close() })
  const tokenClient = await startTokenClient(shared, 'HTTP client for OAuth 2.0 token requests')
  const eventLoop = watchEventLoop()
  await lifecycle.start({ name: 'event loop watch', stop: async () => eventLoop.stop() })
  // Read all existing retry topics: an earlier retry schedule may have left records in them.
  const tiers = shared.existingTopics.filter(topic => topics.tierOf(topic) !== undefined)
  // Without a series at 0, Prometheus does not see the first increase.
  for (const topic of [topics.deadLetter, ...tiers]) metrics.produceFailures.inc({ topic }, 0)
  // Learn the brokers' time before the first record is read, so that all processes calculate due
  // times alike.
  const brokerTime = createBrokerTime({ ...shared, topic: topics.deadLetter, learnedAt: processTime.learnedAt })
  await lifecycle.start({
    name: 'broker time',
    start: () => brokerTime.ask().then(brokerTime.start),
    stop: async () => brokerTime.stop(),
  })
  const attemptProducer = await startAttemptProducer(shared)
  const dispatcher = createDispatcherService({
    live: createGroupConsumer(shared, {
      group: 'dispatcher',
      groupId: topics.dispatcherGroup,
      topics: [topics.events],
      maxWait,
      maxWaitWhilePaused,
      onLoss,
    }),
    retries: createGroupConsumer(shared, {
      group: 'retries',
      groupId: topics.retriesGroup,
      topics: tiers,
      maxWait,
      onLoss,
      fetch: smallFetchSize,
    }),
    readEndOffsets: await startEndOffsetReader(shared),
    countPartitions: () => partitionCount(kafka, topics.events),
    producer,
    codec,
    suppressions,
    transport,
    tokenClient,
    attemptProducer,
    tracer,
    clock,
    cpuSaturatedUntil: eventLoop.cpuSaturatedUntil,
    metrics,
    logger,
    topics,
    encodeInput: shared.inputCodec.encode,
    delivery: settings.delivery,
    routing: () => live().routing,
    payload: () => live().payload,
    canary: () => live().canary,
    notices: () => live().notices,
    ...ofConfigTopic(shared),
  })
  await lifecycle.start({ name: 'dispatcher', start: dispatcher.start, stop: dispatcher.stop })
  return dispatcher
}

/** The dependencies that need the config topic; each is `undefined` without this topic. */
function ofConfigTopic(shared: SharedDependencies): Pick<DispatcherDeps, 'onObjectChange' | 'failures'> {
  const { objectStore: store, objectWriter: writer, live, clock, logger } = shared
  if (store === undefined || writer === undefined) return { onObjectChange: undefined, failures: undefined }
  return {
    onObjectChange: listener =>
      store.listen({
        onRecord: (change, result) => {
          if (result === 'applied' && isObjectRecord(change)) listener(change)
        },
      }),
    failures: new FailureWatch({ store, writer, routing: () => live().routing, clock, logger }),
  }
}

/**
 * Starts a separate producer for attempt records, so that Kafka's slow acknowledgements of attempt
 * records do not delay retry and dead-letter records.
 */
async function startAttemptProducer(shared: SharedDependencies): Promise<LogProducer | undefined> {
  const { settings, lifecycle, kafka, clock, logger } = shared
  if (settings.delivery.attemptsTopic === 'off') return undefined
  const producer = createProducer({ kafka, clock, logger })
  await lifecycle.start({ name: 'attempt producer', stop: () => producer.stop() })
  return producer
}
