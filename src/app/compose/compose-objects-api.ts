import { randomBytes } from 'node:crypto'
import { library } from '../../../packages/client/src/version.ts'
import { createLogPositions } from '../../adapters/kafka/log/admin.ts'
import { createReader } from '../../adapters/kafka/log/reader.ts'
import { createChosenTransport } from '../../adapters/webhook/chosen-transport.ts'
import type { ObjectsApi } from '../../core/operator/objects-api.ts'
import type { Destination } from '../../core/settings/settings.ts'
import { createAuthorize } from '../../services/dispatcher/authorized-transport.ts'
import { createManageObjects } from '../../services/operator/manage-objects.ts'
import { createReadStatus } from '../../services/operator/read-status.ts'
import { createSendTest } from '../../services/operator/send-test.ts'
import { startConfigObjects } from './compose-config-objects.ts'
import type { SharedDependencies } from './shared-dependencies.ts'
import { startTokenClient } from './start-token-client.ts'

/** Starts the operations behind the routes for destinations, sources, changes and status. */
export async function startObjectsApi(shared: SharedDependencies): Promise<ObjectsApi> {
  const { settings, live, lifecycle, kafka, topics, existingTopics, clock, logger } = shared
  const objects = await startConfigObjects(shared)
  const transport = await createChosenTransport(settings.delivery.transport, {
    network: () => live().network,
    timeout: settings.delivery.timeout,
    clock,
  })
  await lifecycle.start({ name: 'transport of test messages', stop: () => transport.close() })
  const client = await startTokenClient(shared, 'token client of test messages')
  const tiers = existingTopics.flatMap(topic => topics.tierOf(topic) ?? [])
  return {
    ...createManageObjects({ objects, clock, randomBytes }),
    test: createSendTest({
      transport,
      authorize: createAuthorize({
        ...{ transport, client, clock, ...uncounted, timeout: settings.delivery.timeout },
        userAgent: () => live().payload.userAgent,
      }),
      destination: id => destinationInForce(shared, id),
      exists: id => objects.get('destination', id) !== undefined,
      payload: () => live().payload,
      clock,
    }),
    ...createReadStatus({
      ...{ objects, topics, clock, logger },
      positions: createLogPositions(kafka),
      reader: createReader({ kafka, clock, logger }),
      tiers: tiers.toSorted((a, b) => a - b),
      version: library.version,
    }),
  }
}

/** Alerts and log lines about token requests are about deliveries. The answer to a test has its failure. */
const uncounted = {
  metrics: { tokenRequests: { inc() {}, of: () => ({ inc() {} }) } },
  logger: { isLevelEnabled: () => false, debug() {}, info() {}, warn() {}, error() {} },
}

/**
 * The destination with its last change. The live settings have a change up to half a second later,
 * so a test message right after a change could be sent with the old settings.
 */
function destinationInForce(
  { merged, objectStore }: Pick<SharedDependencies, 'merged' | 'objectStore'>,
  id: string,
): Destination | undefined {
  const inFile = merged.file().destinations.find(destination => destination.id === id)
  if (inFile !== undefined) return inFile
  const object = objectStore?.object({ kind: 'destination', id })
  return object?.problems.length === 0 && object.parsed.kind === 'destination' ? object.parsed.destination : undefined
}
