import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { createMembershipCodec } from '../../adapters/avro/audience-codecs.ts'
import { processTime } from '../../adapters/clock/process-clock.ts'
import type { GuardedOperatorApi } from '../../adapters/http/deletion-and-sync-routes.ts'
import { createOperatorAuthentication } from '../../adapters/http/operator-authentication.ts'
import { createOperatorServer } from '../../adapters/http/operator-server.ts'
import { createLogPositions } from '../../adapters/kafka/log/end-and-committed-offsets.ts'
import { createReader } from '../../adapters/kafka/log/topic-reader.ts'
import { type OperatorPhase, operatorHealth } from '../../core/health.ts'
import type { ListAudiences } from '../../core/operator/audience-view.ts'
import { createFindOperatorKey } from '../../core/operator/operator-keys.ts'
import type { Secret } from '../../core/secret.ts'
import { createBrokerTime } from '../../services/learn-broker-time.ts'
import {
  createDeletionsAndAudiences,
  type DeletionsAndAudiences,
} from '../../services/operator/deletions-and-audiences.ts'
import { createLedgerWatch } from '../../services/operator/ledger-watch.ts'
import { createListAudiences } from '../../services/operator/list-audiences.ts'
import { createPublishedKeys } from '../../services/operator/published-signing-keys.ts'
import { awaitSetup } from './await-setup.ts'
import { createLogApi, startLogSessions, startObjectsApi } from './compose-objects-and-log-api.ts'
import { composeReadLedger, ledgerRouteLimits, ledgerWatchLimits } from './compose-read-ledger.ts'
import type { SharedDependencies, StartedService } from './shared-dependencies.ts'
import { startServer } from './start-http-server.ts'
import { startJobs } from './start-jobs.ts'

/** Creates the service behind the routes for deletions and audiences. */
export function createOperatorApi(shared: SharedDependencies): DeletionsAndAudiences {
  const { live, kafka, topics, clock, logger } = shared
  const { learnedAt } = processTime
  const time = createBrokerTime({ ...shared, topic: topics.deletions, learnedAt })
  return createDeletionsAndAudiences({
    ...shared,
    reader: createReader({ kafka, clock, logger }),
    positions: createLogPositions(kafka),
    brokersNow: time.now,
    routing: () => live().routing,
    audiences: () => live().audiences,
  })
}

/**
 * Starts the operator API, and resolves when it listens. `url` is `undefined` when `operator.keys`
 * has no key.
 */
export async function startOperator(
  shared: SharedDependencies,
): Promise<StartedService & { readonly url: string | undefined }> {
  const { settings, live, metrics, lifecycle } = shared
  const { operatorListen: listen } = settings
  let phase: OperatorPhase = 'off'
  let url: string | undefined
  const service = { health: () => operatorHealth(phase) }
  if (listen === undefined) return { ...service, refreshGauges() {}, url }
  // Without a series at 0, Prometheus does not see the first increase.
  for (const code of ['invalid_operator_key', 'rate_limited']) metrics.operatorAnswers.inc({ code }, 0)
  const api = createOperatorApi(shared)
  const sessions = await startLogSessions(shared)
  const log = createLogApi(shared, sessions)
  const objects = await startObjectsApi(shared, { log, sessions })
  const jobs = await startJobs(shared)
  const publishedKeys = createPublishedKeys({ destinations: () => live().routing.destinations, clock: shared.clock })
  const ledgerWatch = createLedgerWatch({
    ...shared,
    readLedger: composeReadLedger(shared, sessions, ledgerWatchLimits),
  })
  const listAudiences = await composeListAudiences(shared)
  const findKey = () => live().findOperatorKey
  const server = createOperatorServer({
    ...{ ...shared, listen, api, objects, log, jobs: jobs.api, findKey, publishedKeys },
    sessions: () => live().operatorSessions,
    clientAddressHeader: settings.collector.clientAddressHeader,
    readLedger: composeReadLedger(shared, sessions, ledgerRouteLimits),
    listAudiences,
    consoleDirectory: findConsole(),
  })
  phase = 'starting'
  await lifecycle.start({
    name: 'operator server',
    start: async () => (url = await startServer('operator.listen', server)),
    async stop() {
      phase = 'stopping'
      api.stop()
      await server.stop()
    },
  })
  await lifecycle.start({
    name: 'ledger watch',
    start: async () => ledgerWatch.start(),
    stop: async () => ledgerWatch.stop(),
  })
  phase = 'listening'
  return { ...service, refreshGauges: jobs.refreshGauges, url }
}

/**
 * Creates the operation that lists audiences. An installation without audiences does not have the
 * memberships topic.
 */
async function composeListAudiences(shared: SharedDependencies): Promise<ListAudiences> {
  const { live, kafka, topics, existingTopics, registry, clock, logger } = shared
  const topic = topics.memberships
  const source = existingTopics.includes(topic)
    ? {
        topic,
        reader: createReader({ kafka, clock, logger }),
        codec: await awaitSetup(() => createMembershipCodec({ registry, topic, clock }), shared),
        clock,
      }
    : undefined
  const directory = () => live().audiences
  return createListAudiences({ source, directory, clock, logger })
}

/** The directory with the built console; `undefined` if it was not built. */
function findConsole(): string | undefined {
  try {
    return dirname(createRequire(import.meta.url).resolve('#console/index.html'))
  } catch {
    return undefined
  }
}

/** Creates the deprecated operator API on the collector's listener, with the key `operatorKey`. */
export function deprecatedOperator(
  { clock, audit }: SharedDependencies,
  api: DeletionsAndAudiences,
  operatorKey: Secret,
): GuardedOperatorApi {
  const findKey = createFindOperatorKey([{ name: 'collector.operatorKey', role: 'operate', secrets: [operatorKey] }])
  // Wrong keys are not throttled by client address, because behind an Ingress all clients have the
  // same address.
  return { api, gate: createOperatorAuthentication({ findKey: () => findKey, clock }), audit }
}
