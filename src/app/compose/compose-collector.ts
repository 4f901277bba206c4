import { systemTime } from '../../adapters/clock/clock.ts'
import { createOperatorGate } from '../../adapters/http/operator-gate.ts'
import type { Operator } from '../../adapters/http/operator-routes.ts'
import { createOperatorServer } from '../../adapters/http/operator-server.ts'
import { createTrackingServer } from '../../adapters/http/tracking-routes.ts'
import { createLogPositions } from '../../adapters/kafka/log/admin.ts'
import { createReader } from '../../adapters/kafka/log/reader.ts'
import { createFindOperatorKey } from '../../core/operator/operator-keys.ts'
import { createBrokerTime } from '../../services/broker-time.ts'
import { createCollectorService } from '../../services/collector/collector.ts'
import { createOperatorService, type OperatorService } from '../../services/operator/operator.ts'
import type { RunningPart, SharedDependencies } from './shared-dependencies.ts'

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
export async function startCollector(foundation: SharedDependencies): Promise<RunningPart & Reached> {
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
    listen,
    api: collector,
    operator,
    maxBodyBytes,
    clientAddressHeader,
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

/** What stands behind the operator API; undefined: no key of either listener is configured. */
function createOperatorApi(foundation: SharedDependencies): OperatorService | undefined {
  const { settings, live, kafka, topics, clock, logger } = foundation
  if (settings.operatorListen === undefined && settings.collector.operatorKey === undefined) return undefined
  const { learnedAt } = systemTime
  const time = createBrokerTime({ ...foundation, topic: topics.deletions, learnedAt })
  return createOperatorService({
    ...foundation,
    reader: createReader({ kafka, clock, logger }),
    positions: createLogPositions(kafka),
    brokersNow: time.now,
    routing: () => live().routing,
    audiences: () => live().audiences,
  })
}

/** Resolves with the URL when it listens; undefined: no key is configured. */
async function startOperatorServer(foundation: SharedDependencies, api: OperatorService): Promise<string | undefined> {
  const { settings, live, metrics, lifecycle } = foundation
  const { operatorListen: listen } = settings
  if (listen === undefined) return undefined
  // Every series exists from the start: Prometheus sees no increase in a series that begins above 0.
  for (const code of ['invalid_operator_key', 'rate_limited']) metrics.operatorAnswers.inc({ code }, 0)
  const server = createOperatorServer({ ...foundation, listen, api, findKey: () => live().findOperatorKey })
  let url = ''
  await lifecycle.start({ name: 'operator server', start: async () => (url = await server.start()), stop: server.stop })
  return url
}

/** The operator API on the collector's listener, with its one key; undefined: it is off there. */
function deprecatedOperator(
  { settings, clock, audit }: SharedDependencies,
  api: OperatorService,
): Operator | undefined {
  const { operatorKey } = settings.collector
  if (operatorKey === undefined) return undefined
  const findKey = createFindOperatorKey([{ name: 'collector.operatorKey', role: 'operate', secrets: [operatorKey] }])
  // Not throttled: behind an Ingress all clients have one address, and this listener is for everyone.
  return { api, gate: createOperatorGate({ findKey: () => findKey, clock }), audit }
}
