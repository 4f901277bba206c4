import { systemTime } from '../../adapters/clock.ts'
import type { Operator } from '../../adapters/http/operator-api.ts'
import { createOperatorGate } from '../../adapters/http/operator-gate.ts'
import { createOperatorServer } from '../../adapters/http/operator-server.ts'
import { createLogPositions } from '../../adapters/kafka/log/admin.ts'
import { createReader } from '../../adapters/kafka/log/reader.ts'
import { createFindOperatorKey } from '../../core/operator-keys.ts'
import { createBrokerTime } from '../../services/broker-time.ts'
import { createOperatorService, type OperatorService } from '../../services/operator/operator-service.ts'
import type { Foundation } from './foundation.ts'

/** What stands behind the operator API; undefined: no key of either listener is configured. */
export function createOperatorApi(foundation: Foundation): OperatorService | undefined {
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
export async function startOperatorServer(foundation: Foundation, api: OperatorService): Promise<string | undefined> {
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
export function deprecatedOperator({ settings, clock, audit }: Foundation, api: OperatorService): Operator | undefined {
  const { operatorKey } = settings.collector
  if (operatorKey === undefined) return undefined
  const findKey = createFindOperatorKey([{ name: 'collector.operatorKey', role: 'operate', secrets: [operatorKey] }])
  // Not throttled: behind an Ingress all clients have one address, and this listener is for everyone.
  return { api, gate: createOperatorGate({ findKey: () => findKey, clock }), audit }
}
