import { systemTime } from '../../adapters/clock/clock.ts'
import { createTrackingServer } from '../../adapters/http/collector-server.ts'
import { createOperatorAuthentication } from '../../adapters/http/operator-authentication.ts'
import type { GuardedOperatorApi } from '../../adapters/http/operator-routes.ts'
import { createOperatorServer } from '../../adapters/http/operator-server.ts'
import { createLogPositions } from '../../adapters/kafka/log/admin.ts'
import { createReader } from '../../adapters/kafka/log/reader.ts'
import { createFindOperatorKey } from '../../core/operator/operator-keys.ts'
import { createBrokerTime } from '../../services/broker-time.ts'
import { createCollectorService } from '../../services/collector/collector.ts'
import { createOperatorService, type OperatorService } from '../../services/operator/operator.ts'
import type { SharedDependencies, StartedService } from './shared-dependencies.ts'

const mebibyte = 1_048_576
/**
 * Memory for request bodies with a known write key. It has room for 10 000 small requests or 65 of
 * the largest SDK batches (512 000 bytes), and fits a container of 512 MiB.
 */
const bodiesBytes = 32 * mebibyte
/** Memory for request bodies without a known write key: 16 of the largest SDK batches. */
const keylessBytes = 8 * mebibyte
/** Memory for request bodies of the operator API. */
const operatorsBytes = 16 * mebibyte
/**
 * Memory for records that Kafka has not acknowledged: about 5 seconds at 10 MB/s, as during a
 * leader election.
 */
const recordsBytes = 48 * mebibyte
/**
 * The memory for request bodies has room for at least this many bodies of the maximum size. A body
 * takes up to twice its size while it is read, and one source gets at most half of the memory.
 */
const minBodies = 4

interface Reached {
  readonly url: string
  /** `undefined` without a separate listener for the operator API. */
  readonly operatorUrl: string | undefined
}

/**
 * Starts the collector, which writes events from HTTP requests to the events topic. Resolves with
 * its URL when it listens.
 */
export async function startCollector(shared: SharedDependencies): Promise<StartedService & Reached> {
  const { settings, live, lifecycle, metrics, topics } = shared
  const { listen, maxBodyBytes, ratePerSource, clientAddressHeader, connectionsPerAddress } = settings.collector
  const authenticated = Math.max(bodiesBytes, minBodies * maxBodyBytes)
  const { bodyBytesPerAddress = authenticated / 2 } = settings.collector
  // Create these series with 0. An alert sees no increase in a series that begins above 0, and
  // cannot compute a ratio if a series is missing.
  metrics.produceFailures.inc({ topic: topics.events }, 0)
  for (const code of ['unavailable', 'internal_error']) metrics.collectorAnswers.inc({ code }, 0)
  const collector = createCollectorService({
    ...shared,
    sources: () => live().sourceKeys,
    ratePerSource,
    memory: {
      bodies: { authenticated, keyless: keylessBytes, perAddress: bodyBytesPerAddress },
      operators: Math.max(operatorsBytes, maxBodyBytes),
      records: recordsBytes,
    },
  })
  // The collector stops after the server, so that it can still respond to accepted requests.
  await lifecycle.start({ name: 'collector', stop: collector.stop })
  const api = createOperatorApi(shared)
  const operatorUrl = api && (await startOperatorServer(shared, api))
  const operator = api && deprecatedOperator(shared, api)
  const server = createTrackingServer({
    ...shared,
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
      // Readiness fails first, so that load balancers stop sending while the server still accepts.
      collector.startDraining()
      api?.stop()
      await server.stop()
    },
  })
  collector.listening()
  return { ...collector, url, operatorUrl }
}

/** The service behind the operator API. `undefined` when neither listener has a key. */
function createOperatorApi(shared: SharedDependencies): OperatorService | undefined {
  const { settings, live, kafka, topics, clock, logger } = shared
  if (settings.operatorListen === undefined && settings.collector.operatorKey === undefined) return undefined
  const { learnedAt } = systemTime
  const time = createBrokerTime({ ...shared, topic: topics.deletions, learnedAt })
  return createOperatorService({
    ...shared,
    reader: createReader({ kafka, clock, logger }),
    positions: createLogPositions(kafka),
    brokersNow: time.now,
    routing: () => live().routing,
    audiences: () => live().audiences,
  })
}

/** Starts the operator API listener and returns its URL. `undefined` without `operator.listen`. */
async function startOperatorServer(shared: SharedDependencies, api: OperatorService): Promise<string | undefined> {
  const { settings, live, metrics, lifecycle } = shared
  const { operatorListen: listen } = settings
  if (listen === undefined) return undefined
  // Create every series with 0. Prometheus sees no increase in a series that begins above 0.
  for (const code of ['invalid_operator_key', 'rate_limited']) metrics.operatorAnswers.inc({ code }, 0)
  const server = createOperatorServer({ ...shared, listen, api, findKey: () => live().findOperatorKey })
  let url = ''
  await lifecycle.start({ name: 'operator server', start: async () => (url = await server.start()), stop: server.stop })
  return url
}

/** The operator API on the collector's listener. `undefined` without `collector.operatorKey`. */
function deprecatedOperator(
  { settings, clock, audit }: SharedDependencies,
  api: OperatorService,
): GuardedOperatorApi | undefined {
  const { operatorKey } = settings.collector
  if (operatorKey === undefined) return undefined
  const findKey = createFindOperatorKey([{ name: 'collector.operatorKey', role: 'operate', secrets: [operatorKey] }])
  // Wrong keys are not throttled: behind an Ingress all clients of this listener have one address.
  return { api, gate: createOperatorAuthentication({ findKey: () => findKey, clock }), audit }
}
