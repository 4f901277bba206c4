import { createTrackingServer } from '../../adapters/http/tracking-api.ts'
import { createCollectorService } from '../../services/collector/service.ts'
import type { Foundation, RunningPart } from './foundation.ts'
import { createOperatorApi, deprecatedOperator, startOperatorServer } from './operator.ts'

const mebibyte = 1_048_576
/** All together are enough for ten thousand small requests or some dozens of the largest, and few in a container of 512 MiB. */
const bodiesBytes = 32 * mebibyte
/** Bodies whose source is not known: some dozens of the largest batches of SDKs at a time. */
const keylessBytes = 8 * mebibyte
const operatorsBytes = 16 * mebibyte
/** Some seconds without an acknowledgement, as while a leader is elected, at ten megabytes a second. */
const recordsBytes = 48 * mebibyte
/** A body takes up to twice its size while it is read, and one source must not take all that there is room for. */
const bodiesAtLeast = 4

interface Reached {
  readonly url: string
  /** Undefined: the operator API has no listener of its own. */
  readonly operatorUrl: string | undefined
}

/** HTTP to the events topic. Resolves with the URL when it listens. */
export async function startCollector(foundation: Foundation): Promise<RunningPart & Reached> {
  const { settings, live, lifecycle, metrics, topics } = foundation
  const { listen, maxBodyBytes, ratePerSource, clientAddressHeader, connectionsPerAddress } = settings.collector
  const authenticated = Math.max(bodiesBytes, bodiesAtLeast * maxBodyBytes)
  const { bodyBytesPerAddress = authenticated / 2 } = settings.collector
  // There from the start: a rule sees no increase in what appears as more than 0, and no share of what is not there.
  metrics.produceFailures.inc({ topic: topics.events }, 0)
  for (const code of ['unavailable', 'internal_error']) metrics.collectorAnswers.inc({ code }, 0)
  const collector = createCollectorService({
    ...foundation,
    sources: () => live().sourceKeys,
    ratePerSource,
    memory: {
      bodies: { authenticated, keyless: keylessBytes, perAddress: bodyBytesPerAddress },
      operators: Math.max(operatorsBytes, maxBodyBytes),
      records: recordsBytes,
    },
  })
  // Stopped after the server: what it has let in is answered before.
  await lifecycle.start({ name: 'collector', stop: collector.stop })
  const api = createOperatorApi(foundation)
  const operatorUrl = api && (await startOperatorServer(foundation, api))
  const operator = api && deprecatedOperator(foundation, api)
  const server = createTrackingServer({
    ...foundation,
    ...{ listen, api: collector, operator, maxBodyBytes, clientAddressHeader },
    limits: { connectionsPerAddress },
  })
  let url = ''
  await lifecycle.start({
    name: 'tracking server',
    start: async () => (url = await server.start()),
    async stop() {
      // Whoever asks for readiness is to send elsewhere, for as long as the server still takes what comes.
      collector.lastCall()
      api?.stop()
      await server.stop()
    },
  })
  collector.listening()
  return { ...collector, url, operatorUrl }
}
