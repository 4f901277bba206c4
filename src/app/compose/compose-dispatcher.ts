import { systemTime } from '../../adapters/clock/clock.ts'
import { watchEventLoop } from '../../adapters/clock/event-loop.ts'
import { smallFetch } from '../../adapters/kafka/group/deliver-batch.ts'
import { createProducer } from '../../adapters/kafka/producer/producer.ts'
import { createChosenTransport } from '../../adapters/webhook/webhook.ts'
import { flowLimits } from '../../core/flow/limits.ts'
import type { LogProducer } from '../../core/ports.ts'
import { createBrokerTime } from '../../services/broker-time.ts'
import { createDispatcherService } from '../../services/dispatcher/dispatcher.ts'
import { createGroupConsumer, type RunningPart, type SharedDependencies } from './shared-dependencies.ts'

const { maxWait, maxWaitWhilePaused } = flowLimits.fetch
const onLoss = 'records gone before they were read: retention is too short, or the log was cut'

/** Events to webhooks. Resolves when both groups have been joined. */
export async function startDispatcher(foundation: SharedDependencies): Promise<RunningPart> {
  const { settings, live, lifecycle, metrics, clock, logger, topics, producer, codec, marks, tracer } = foundation
  const transport = await createChosenTransport(settings.delivery.transport, {
    network: () => live().network,
    timeout: settings.delivery.timeout,
    clock,
  })
  await lifecycle.start({ name: 'webhook transport', stop: () => transport.close() })
  const eventLoop = watchEventLoop()
  await lifecycle.start({ name: 'event loop watch', stop: async () => eventLoop.stop() })
  // Every tier that exists, so that a changed schedule strands nothing.
  const tiers = foundation.existingTopics.filter(topic => topics.tierOf(topic) !== undefined)
  // Every series exists from the start: Prometheus sees no increase in a series that begins above 0.
  for (const topic of [topics.deadLetter, ...tiers]) metrics.produceFailures.inc({ topic }, 0)
  // The time is needed before the first record is read.
  const brokerTime = createBrokerTime({
    producer,
    topic: topics.deadLetter,
    clock,
    learnedAt: systemTime.learnedAt,
    logger,
  })
  await lifecycle.start({
    name: 'broker time',
    start: () => brokerTime.ask().then(brokerTime.start),
    stop: async () => brokerTime.stop(),
  })
  const attemptProducer = await startAttemptProducer(foundation)
  const dispatcher = createDispatcherService({
    live: createGroupConsumer(foundation, {
      group: 'dispatcher',
      groupId: topics.dispatcherGroup,
      topics: [topics.events],
      maxWait,
      maxWaitWhilePaused,
      onLoss,
    }),
    retries: createGroupConsumer(foundation, {
      group: 'retries',
      groupId: topics.retriesGroup,
      topics: tiers,
      maxWait,
      onLoss,
      fetch: smallFetch,
    }),
    producer,
    codec,
    marks,
    transport,
    attemptProducer,
    tracer,
    clock,
    cpuSaturatedUntil: eventLoop.cpuSaturatedUntil,
    metrics,
    logger,
    topics,
    encodeInput: foundation.inputCodec.encode,
    delivery: settings.delivery,
    routing: () => live().routing,
    payload: () => live().payload,
    canary: () => live().canary,
  })
  await lifecycle.start({ name: 'dispatcher', start: dispatcher.start, stop: dispatcher.stop })
  return dispatcher
}

/** Not the one of the deliveries: a request that a broker holds up would hold up all that go over the same connection. */
async function startAttemptProducer(foundation: SharedDependencies): Promise<LogProducer | undefined> {
  const { settings, lifecycle, kafka, clock, logger } = foundation
  if (!settings.delivery.attemptsTopic) return undefined
  const producer = createProducer({ kafka, clock, logger })
  await lifecycle.start({ name: 'attempt producer', stop: () => producer.stop() })
  return producer
}
