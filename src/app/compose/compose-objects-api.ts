import { randomBytes } from 'node:crypto'
import { library } from '../../../packages/client/src/version.ts'
import { createLogSessions } from '../../adapters/kafka/log/log-sessions.ts'
import { createChosenTransport } from '../../adapters/webhook/chosen-transport.ts'
import type { WithLogSession } from '../../core/log-session.ts'
import type { ObjectsApi } from '../../core/operator/objects-api.ts'
import type { Destination } from '../../core/settings/settings.ts'
import type { DurationMs } from '../../core/time.ts'
import { createAuthorize } from '../../services/dispatcher/authorized-transport.ts'
import { createManageObjects } from '../../services/operator/manage-objects.ts'
import { createReadLog, type ReadLog } from '../../services/operator/read-log.ts'
import { createReadStatus } from '../../services/operator/read-status.ts'
import { createSendTest } from '../../services/operator/send-test.ts'
import { startConfigObjects } from './compose-config-objects.ts'
import type { MergedSettings } from './merged-settings.ts'
import type { SharedDependencies } from './shared-dependencies.ts'
import { startStatusView } from './start-live-status.ts'
import { startTokenClient } from './start-token-client.ts'

/**
 * Creates the operations behind the routes for destinations, sources, changes and status, and
 * starts the components that they need.
 */
export async function startObjectsApi(
  shared: SharedDependencies,
  { log, sessions }: { readonly log: ReadLog; readonly sessions: WithLogSession },
): Promise<ObjectsApi> {
  const { settings, lifecycle, topics, clock, logger } = shared
  const objects = await startConfigObjects(shared)
  const transport = await createChosenTransport(settings.delivery.transport, {
    network: () => shared.live().network,
    timeout: settings.delivery.timeout,
    clock,
  })
  await lifecycle.start({ name: 'HTTP client for test messages', stop: () => transport.close() })
  const client = await startTokenClient(shared, 'HTTP client for token requests of test messages')
  const live = await startStatusView(shared)
  return {
    ...createManageObjects({ objects, clock, randomBytes }),
    test: createSendTest({
      transport,
      authorize: createAuthorize({
        ...{ transport, client, clock, ...uncounted, timeout: settings.delivery.timeout },
        userAgent: () => shared.live().payload.userAgent,
      }),
      destination: id => destinationInForce(shared, id),
      exists: id => objects.get('destination', id) !== undefined,
      payload: () => shared.live().payload,
      clock,
    }),
    ...createReadStatus({
      ...{ objects, topics, live, clock, logger },
      ...{ sessions, log },
      tiers: existingTiers(shared),
      version: library.version,
    }),
  }
}

/** The waits of the existing retry topics, shortest first. */
const existingTiers = ({ existingTopics, topics }: SharedDependencies): readonly DurationMs[] =>
  existingTopics.flatMap(topic => topics.tierOf(topic) ?? []).toSorted((a, b) => a - b)

/** Creates the sessions in which the operator API reads from Kafka. */
export async function startLogSessions({ kafka, clock, lifecycle }: SharedDependencies): Promise<WithLogSession> {
  const sessions = createLogSessions({ kafka, clock })
  await lifecycle.start({ name: 'Kafka reader of the operator API', stop: sessions.close })
  return sessions.use
}

/** Creates the operations behind the routes for messages and dead letters. */
export function createLogApi(shared: SharedDependencies, sessions: WithLogSession): ReadLog {
  const { settings, live, topics, existingTopics } = shared
  return createReadLog({
    ...{ ...shared, sessions },
    tiers: existingTiers(shared),
    routing: () => live().routing,
    recorded: existingTopics.includes(topics.attempts) ? settings.delivery.attemptsTopic : 'off',
  })
}

/**
 * Metrics and a logger that ignore the token requests of test messages: the metrics, alerts and log
 * lines about token requests are for deliveries. If a token request fails, the response of the
 * operator API to the test shows the failure.
 */
const uncounted = {
  metrics: { tokenRequests: { inc() {}, of: () => ({ inc() {} }) } },
  logger: { isLevelEnabled: () => false, debug() {}, info() {}, warn() {}, error() {} },
}

/**
 * Returns a destination, for a test message, with all changes that this process has read. The live
 * settings may lack the changes of the last half second. `undefined` when the destination does not
 * exist. An excluded destination is a placeholder (`isHeld`).
 */
export const destinationInForce = (
  { merged }: { readonly merged: Pick<MergedSettings, 'latest'> },
  id: string,
): Destination | undefined => merged.latest().settings.destinations.find(destination => destination.id === id)
