import { createCollectorServer } from '../../adapters/http/collector-server.ts'
import { createCollectorService } from '../../services/collector/collector.ts'
import { collectorMemory } from './collector-memory.ts'
import type { SharedDependencies, StartedService } from './shared-dependencies.ts'
import { startServer } from './start-http-server.ts'
import { createOperatorApi, deprecatedOperator } from './start-operator.ts'

/**
 * Starts the collector, which writes events from HTTP requests to the events topic. Resolves with
 * its URL when it listens.
 */
export async function startCollector(shared: SharedDependencies): Promise<StartedService & { readonly url: string }> {
  const { settings, live, lifecycle, metrics, topics } = shared
  const { listen, maxBodyBytes, ratePerSource, clientAddressHeader, connectionsPerAddress } = settings.collector
  // Without a series at 0, an alert does not see the first increase, and cannot compute a ratio.
  metrics.produceFailures.inc({ topic: topics.events }, 0)
  for (const code of ['unavailable', 'internal_error']) metrics.collectorAnswers.inc({ code }, 0)
  const collector = createCollectorService({
    ...shared,
    sources: () => live().sourceKeys,
    ratePerSource,
    memory: collectorMemory(settings.collector),
  })
  // Components stop in reverse order: first the HTTP server, then the collector. So the collector
  // still works while the HTTP server responds to pending requests.
  await lifecycle.start({ name: 'collector', stop: collector.stop })
  const { operatorKey } = settings.collector
  const api = operatorKey && createOperatorApi(shared)
  const operator = api && deprecatedOperator(shared, api, operatorKey)
  const server = createCollectorServer({
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
    start: async () => (url = await startServer('collector.listen', server)),
    async stop() {
      // The readiness check fails first, so that load balancers send no new requests.
      collector.startDraining()
      api?.stop()
      await server.stop()
    },
  })
  collector.listening()
  return { ...collector, url }
}
