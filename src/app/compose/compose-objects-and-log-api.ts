import { randomBytes } from 'node:crypto'
import { library } from '../../../packages/client/src/version.ts'
import { createLogSessions } from '../../adapters/kafka/log/log-sessions.ts'
import { createChosenTransport } from '../../adapters/webhook/got-or-undici-transport.ts'
import { retryPolicyOf } from '../../core/delivery/retry-tier.ts'
import type { WithLogSession } from '../../core/log-session.ts'
import type { ObjectsApi } from '../../core/operator/objects-api.ts'
import { replayPreviewOf } from '../../core/operator/replay-preview-of-dead-letter.ts'
import type { Destination } from '../../core/settings/settings.ts'
import { tiersOf } from '../../core/topics.ts'
import { createAuthorize } from '../../services/dispatcher/authorized-transport.ts'
import type { RetryTiers } from '../../services/operator/existing-retry-tiers.ts'
import { createManageObjects } from '../../services/operator/manage-objects.ts'
import { createReadLog, type ReadLog } from '../../services/operator/messages-and-dead-letters.ts'
import { createPreviewMessage } from '../../services/operator/preview-message.ts'
import { createReadStatus } from '../../services/operator/read-status.ts'
import { createSendTest } from '../../services/operator/send-test-message.ts'
import type { MergedSettings } from './merged-settings.ts'
import type { SharedDependencies } from './shared-dependencies.ts'
import { startConfigObjects } from './start-config-objects.ts'
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
  const client = await startTokenClient(shared, 'HTTP client for OAuth 2.0 token requests of test messages')
  const live = await startStatusView(shared)
  const exists = (id: string): boolean => objects.get('destination', id) !== undefined
  return {
    ...createManageObjects({ objects, clock, randomBytes }),
    test: createSendTest({
      transport,
      authorize: createAuthorize({
        ...{ transport, client, clock, ...discardingDeps, timeout: settings.delivery.timeout },
        userAgent: () => shared.live().payload.userAgent,
      }),
      destination: id => latestDestination(shared, id),
      exists,
      payload: () => shared.live().payload,
      delivery: settings.delivery,
      clock,
    }),
    preview: createPreviewMessage({ settings: () => shared.merged.latest().settings, exists, clock }),
    ...createReadStatus({
      ...{ objects, topics, live, clock, logger },
      ...{ sessions, log },
      ...retryTiers(shared),
      version: library.version,
    }),
  }
}

/**
 * Returns the waits of the retry topics that existed when this process started. `earlierTiers` are
 * not in the current schedule.
 */
export function retryTiers({ existingTopics, topics, settings }: SharedDependencies): RetryTiers {
  const tiers = existingTopics.flatMap(topic => topics.tierOf(topic) ?? []).toSorted((a, b) => a - b)
  const current = tiersOf(settings.delivery.schedule)
  return { tiers, earlierTiers: tiers.filter(tier => !current.includes(tier)) }
}

/** Creates the sessions in which the operator API reads from Kafka. */
export async function startLogSessions({ kafka, clock, lifecycle }: SharedDependencies): Promise<WithLogSession> {
  const sessions = createLogSessions({ kafka, clock })
  await lifecycle.start({ name: 'Kafka reader of the operator API', stop: sessions.close })
  return sessions.use
}

/** Creates the operations behind the routes for messages and dead letters. */
export function createLogApi(shared: SharedDependencies, sessions: WithLogSession): ReadLog {
  const { settings, live, topics, clock } = shared
  const policy = retryPolicyOf(settings.delivery)
  return createReadLog({
    ...{ ...shared, sessions },
    previewReplay(record, event) {
      const { routing, payload } = live()
      return replayPreviewOf(record, event, { context: { topics, policy, routing }, payload, now: clock.now() })
    },
    ...retryTiers(shared),
    routing: () => live().routing,
    recorded: settings.delivery.attemptsTopic,
  })
}

/**
 * Metrics and a logger that ignore the token requests of test messages: only token requests of
 * deliveries are counted and logged.
 */
const discardingDeps = {
  metrics: { tokenRequests: { inc() {}, withLabels: () => ({ inc() {} }) } },
  logger: { isLevelEnabled: () => false, debug() {}, info() {}, warn() {}, error() {} },
}

/**
 * Returns the destination of a test message with all changes that this process has read. The live
 * settings can lack the newest of these changes.
 */
export const latestDestination = (
  { merged }: { readonly merged: Pick<MergedSettings, 'latest'> },
  id: string,
): Destination | undefined => merged.latest().settings.destinations.find(destination => destination.id === id)
