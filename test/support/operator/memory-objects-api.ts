import { randomBytes } from 'node:crypto'
import { processClock } from '../../../src/adapters/clock/process-clock.ts'
import { createRouting } from '../../../src/core/delivery/route.ts'
import type { ObjectsApi } from '../../../src/core/operator/objects-api.ts'
import type { Clock } from '../../../src/core/ports.ts'
import { durationMs } from '../../../src/core/time.ts'
import { topicNames } from '../../../src/core/topics.ts'
import type { WebhookTransport } from '../../../src/core/webhook-ports.ts'
import type { Authorize } from '../../../src/services/dispatcher/authorized-transport.ts'
import type { StatusView } from '../../../src/services/live-status/status-view.ts'
import type { LastFailures } from '../../../src/services/operator/last-failures.ts'
import { createManageObjects } from '../../../src/services/operator/manage-objects.ts'
import { createPreviewMessage } from '../../../src/services/operator/preview-message.ts'
import { createReadStatus } from '../../../src/services/operator/read-status.ts'
import { createSendTest } from '../../../src/services/operator/send-test-message.ts'
import { defaultDelivery, defaultPayload } from '../builders.ts'
import { MemorySession } from '../kafka/memory-log-session.ts'
import { silent } from '../telemetry/silent-logger.ts'
import { type MemoryObjects, memoryObjects } from './memory-objects.ts'
import { noStatusView } from './no-status-view.ts'

const noTransport: WebhookTransport = {
  post: (_call, onEnd) => void setImmediate(() => onEnd({ kind: 'answered', status: 204, retryAfter: undefined })),
  hasIdleConnection: () => false,
  close: async () => {},
}

interface Options {
  readonly clock?: Clock
  readonly memory?: MemoryObjects
  readonly transport?: WebhookTransport
  /** Adds access tokens to requests, for `auth.oauth2`. */
  readonly authorize?: Authorize
  readonly failures?: LastFailures
  readonly live?: StatusView
}

/** The operations behind the routes for destinations and sources, with objects in memory. */
export async function objectsApi(options: Options = {}): Promise<ObjectsApi> {
  const { clock = processClock, transport = noTransport } = options
  const { objects, merged } = options.memory ?? (await memoryObjects(clock))
  const exists = (id: string): boolean => objects.get('destination', id) !== undefined
  const test = createSendTest({
    transport,
    authorize: options.authorize ?? (() => undefined),
    destination: id => createRouting(merged().settings).destinations.get(id),
    exists,
    payload: () => defaultPayload,
    delivery: defaultDelivery,
    clock,
  })
  return {
    ...createManageObjects({ objects, clock, randomBytes }),
    test,
    preview: createPreviewMessage({ settings: () => merged().settings, exists, clock }),
    ...createReadStatus({
      ...{ objects, clock, logger: silent, version: '1.2.3' },
      sessions: use => use(new MemorySession()),
      live: options.live ?? noStatusView,
      log: { lastFailures: async () => options.failures ?? { lastFailures: [], isPartial: false } },
      ...{ topics: topicNames('hookline'), tiers: [durationMs(10_000), durationMs(30_000)], earlierTiers: [] },
    }),
  }
}
