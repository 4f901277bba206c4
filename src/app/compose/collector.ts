import { createMembershipCodec } from '../../adapters/audience-codecs.ts'
import { createTrackingServer } from '../../adapters/http/tracking-api.ts'
import { createLogPositions } from '../../adapters/kafka/log-positions.ts'
import { createReader } from '../../adapters/kafka/reader.ts'
import { createCollectorService } from '../../services/collector/service.ts'
import { createOperatorService, type OperatorService } from '../../services/operator/operator-service.ts'
import type { Foundation, RunningPart } from './foundation.ts'

const mebibyte = 1_048_576
/** Both together are enough for ten thousand small requests or some dozens of the largest, and few in a container of 512 MiB. */
const bodiesBytes = 32 * mebibyte
/** Some seconds without an acknowledgement, as while a leader is elected, at ten megabytes a second. */
const recordsBytes = 48 * mebibyte
/** A body takes up to twice its size while it is read, and one alone must not be all that there is room for. */
const bodiesAtLeast = 4

/** HTTP to the events topic. Resolves with the URL when it listens. */
export async function startCollector(foundation: Foundation): Promise<RunningPart & { readonly url: string }> {
  const { settings, live, lifecycle, metrics, topics } = foundation
  const { listen, maxBodyBytes, ratePerSource } = settings.collector
  // There from the start: a rule sees no increase in what appears as more than 0, and no share of what is not there.
  metrics.produceFailures.inc({ topic: topics.events }, 0)
  for (const code of ['unavailable', 'internal_error']) metrics.collectorAnswers.inc({ code }, 0)
  const collector = createCollectorService({
    ...foundation,
    sources: () => live().sourceKeys,
    ratePerSource,
    memory: { bodies: Math.max(bodiesBytes, bodiesAtLeast * maxBodyBytes), records: recordsBytes },
  })
  // Stopped after the server: what it has let in is answered before.
  await lifecycle.start({ name: 'collector', stop: collector.stop })
  const operator = await createOperator(foundation)
  const server = createTrackingServer({ ...foundation, listen, api: collector, operator, maxBodyBytes })
  let url = ''
  await lifecycle.start({
    name: 'tracking server',
    start: async () => (url = await server.start()),
    async stop() {
      // Whoever asks for readiness is to send elsewhere, for as long as the server still takes what comes.
      collector.lastCall()
      operator?.stop()
      await server.stop()
    },
  })
  collector.listening()
  return { ...collector, url }
}

/** Undefined: no operator key is configured. */
async function createOperator(foundation: Foundation): Promise<OperatorService | undefined> {
  const { settings, live, kafka, registry, topics, clock, logger } = foundation
  const { operatorKey } = settings.collector
  if (operatorKey === undefined) return undefined
  return createOperatorService({
    ...foundation,
    operatorKey,
    reader: createReader({ kafka, clock, logger }),
    positions: createLogPositions(kafka),
    membershipCodec: await createMembershipCodec({ registry, topic: topics.memberships, clock }),
    routing: () => live().routing,
    audiences: () => live().audiences,
  })
}
