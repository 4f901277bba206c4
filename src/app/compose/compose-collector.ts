import { createTrackingServer } from '../../adapters/http/collector-server.ts'
import { createCollectorService } from '../../services/collector/collector.ts'
import { createOperatorApi, deprecatedOperator } from './compose-operator.ts'
import type { SharedDependencies, StartedService } from './shared-dependencies.ts'

const mebibyte = 1_048_576
/**
 * Maximum memory of a process for request bodies with a known write key, their rejected messages
 * and long responses; `minBodies` can raise it. It has room for 10 000 small requests or 65 of the
 * largest SDK batches (512 000 bytes), and is small enough for a container with 512 MiB.
 */
const bodiesBytes = 32 * mebibyte
/**
 * Maximum memory of a process for request bodies without a known write key: 16 of the largest SDK
 * batches.
 */
const keylessBytes = 8 * mebibyte
/**
 * Maximum memory of a process for request bodies of the operator API. If `maxBodyBytes` is higher,
 * `maxBodyBytes` is the maximum.
 */
const operatorsBytes = 16 * mebibyte
/**
 * Maximum memory of a process for records that Kafka has not acknowledged: enough for a leader
 * election of about 5 seconds at 10 MB/s. One source may use three quarters of it.
 */
const recordsBytes = 48 * mebibyte
/** Maximum memory of a process for records of rejected messages that Kafka has not acknowledged. */
const rejectedBytes = 8 * mebibyte
/**
 * The minimum memory for request bodies, as a multiple of the maximum body size. A body takes up to
 * twice its size while it is read, and one source gets at most half of the memory. So with 4, every
 * source can send a body of the maximum size.
 */
const minBodies = 4

/**
 * Starts the collector, which writes events from HTTP requests to the events topic. Resolves with
 * its URL when it listens.
 */
export async function startCollector(shared: SharedDependencies): Promise<StartedService & { readonly url: string }> {
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
      rejected: rejectedBytes,
    },
  })
  // Components stop in reverse order. The HTTP server starts after the collector, so it stops
  // first. While it stops, the collector still works, and the server can respond to accepted
  // requests.
  await lifecycle.start({ name: 'collector', stop: collector.stop })
  const { operatorKey } = settings.collector
  const api = operatorKey && createOperatorApi(shared)
  const operator = api && deprecatedOperator(shared, api, operatorKey)
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
      // The readiness check fails first, so that load balancers send no new requests while the
      // server still accepts them.
      collector.startDraining()
      api?.stop()
      await server.stop()
    },
  })
  collector.listening()
  return { ...collector, url }
}
