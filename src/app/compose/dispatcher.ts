import { createConsumer } from '../../adapters/kafka/consumer.ts'
import { createProducer } from '../../adapters/kafka/producer.ts'
import { createChosenTransport } from '../../adapters/webhook/choose.ts'
import type { LogConsumer, LogProducer } from '../../core/ports.ts'
import { durationMs } from '../../core/units.ts'
import { createDispatcherService } from '../../services/dispatcher/service.ts'
import type { Foundation, RunningPart } from './foundation.ts'

/** The shortest tier is 10 s, and the retry topics have most of the partitions: they are asked less often. */
const maxWait = { dispatcher: durationMs(100), retries: durationMs(500) }

/** Events to webhooks. Resolves when both groups have been joined. */
export async function startDispatcher(foundation: Foundation): Promise<RunningPart> {
  const { settings, live, lifecycle, metrics, logger, onFatal, clock, topics, kafka } = foundation
  const transport = await createChosenTransport(settings.delivery.transport, {
    network: () => live().network,
    timeout: settings.delivery.timeout,
    clock,
  })
  await lifecycle.start({ name: 'webhook transport', stop: () => transport.close() })
  const consumerOf = (group: keyof typeof maxWait, groupId: string, names: readonly string[]): LogConsumer =>
    createConsumer({
      ...{ kafka, groupId, topics: names, clock, logger, onFatal, maxWait: maxWait[group] },
      onCommit: result => metrics.commits.inc({ group, result }),
      onPositionLost: loss => {
        logger.error(loss, 'records gone before they were read: retention is too short, or the log was cut')
        metrics.positionsLost.inc({ topic: loss.topic }, Math.max(0, loss.to - loss.from))
      },
    })
  // Every tier that exists, so that a changed schedule strands nothing.
  const tiers = foundation.existingTopics.filter(topic => topics.tierOf(topic) !== undefined)
  // There from the start: a rule sees no increase in what appears as more than 0.
  for (const topic of [topics.events, ...tiers]) metrics.positionsLost.inc({ topic }, 0)
  for (const topic of [topics.deadLetter, ...tiers]) metrics.produceFailures.inc({ topic }, 0)
  const attemptProducer = await startAttemptProducer(foundation)
  const dispatcher = createDispatcherService({
    ...{ ...foundation, attemptProducer },
    live: consumerOf('dispatcher', topics.dispatcherGroup, [topics.events]),
    retries: consumerOf('retries', topics.retriesGroup, tiers),
    transport,
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
async function startAttemptProducer(foundation: Foundation): Promise<LogProducer | undefined> {
  const { settings, lifecycle } = foundation
  if (!settings.delivery.attemptsTopic) return undefined
  const producer = createProducer(foundation)
  await lifecycle.start({ name: 'attempt producer', stop: () => producer.stop() })
  return producer
}
