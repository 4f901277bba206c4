import { systemTime } from '../../adapters/clock/clock.ts'
import { createOperatorAuthentication } from '../../adapters/http/operator-authentication.ts'
import type { GuardedOperatorApi } from '../../adapters/http/operator-routes.ts'
import { createOperatorServer } from '../../adapters/http/operator-server.ts'
import { createLogPositions } from '../../adapters/kafka/log/admin.ts'
import { createReader } from '../../adapters/kafka/log/reader.ts'
import { createFindOperatorKey } from '../../core/operator/operator-keys.ts'
import { createBrokerTime } from '../../services/broker-time.ts'
import { createOperatorService, type OperatorService } from '../../services/operator/operator.ts'
import type { SharedDependencies } from './shared-dependencies.ts'

/** The service behind the operator API. `undefined` when neither listener has a key. */
export function createOperatorApi(shared: SharedDependencies): OperatorService | undefined {
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
export async function startOperatorServer(
  shared: SharedDependencies,
  api: OperatorService,
): Promise<string | undefined> {
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
export function deprecatedOperator(
  { settings, clock, audit }: SharedDependencies,
  api: OperatorService,
): GuardedOperatorApi | undefined {
  const { operatorKey } = settings.collector
  if (operatorKey === undefined) return undefined
  const findKey = createFindOperatorKey([{ name: 'collector.operatorKey', role: 'operate', secrets: [operatorKey] }])
  // Wrong keys are not throttled: behind an Ingress all clients of this listener have one address.
  return { api, gate: createOperatorAuthentication({ findKey: () => findKey, clock }), audit }
}
