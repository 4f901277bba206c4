import { notFound } from '../../core/operator/change-answer.ts'
import { type ObjectRefusal, objectRefusal } from '../../core/operator/object-refusal.ts'
import {
  type TestRequest,
  type TestResponse,
  type TestResult,
  testMessageOf,
  testResponseOf,
} from '../../core/operator/test-request.ts'
import type { Clock } from '../../core/ports.ts'
import type { Destination, PayloadSettings } from '../../core/settings/settings.ts'
import type { WebhookTransport } from '../../core/webhook-ports.ts'
import type { Authorize } from '../dispatcher/authorized-transport.ts'

export interface SendTestDeps {
  readonly transport: Pick<WebhookTransport, 'post'>
  /** Adds the access token of a destination. Each test gets a new one, to test its settings. */
  readonly authorize: Authorize
  /** The destination in force; `undefined` when none has this id. */
  readonly destination: (id: string) => Destination | undefined
  /** Whether there is an object with this id, also one that is not in force. */
  readonly exists: (id: string) => boolean
  readonly payload: () => PayloadSettings
  readonly clock: Clock
}

/** Maximum number of test messages in progress in one process. Each takes at most some seconds. */
const maxTests = 8

/**
 * Creates the function that sends a test message to each webhook of a destination now: signed like
 * every message, but outside of the queues, without retries, limits and metrics of deliveries. It
 * also sends to a destination that is paused or disabled.
 */
export function createSendTest(deps: SendTestDeps): (id: string) => Promise<TestResult | ObjectRefusal> {
  const { transport, authorize, clock } = deps
  let inProgress = 0

  const send = (request: TestRequest, by: SendTestDeps['transport']): Promise<TestResponse> => {
    const startedAt = clock.monotonic()
    return new Promise(resolve => {
      by.post(request.call, result => resolve(testResponseOf(request, result, clock.monotonic() - startedAt)))
    })
  }

  return async id => {
    const destination = deps.destination(id)
    if (destination === undefined || destination.isHeld === true) return deps.exists(id) ? notInUse : notFound
    if (inProgress >= maxTests) return tooManyTests
    inProgress++
    try {
      const { messageId, body, requests } = testMessageOf(destination, {
        ...{ id: clock.id(), at: clock.now(), payload: deps.payload() },
      })
      const authorized = authorize(destination, undefined) ?? transport
      const responses = await Promise.all(requests.map(request => send(request, authorized)))
      const delivered = responses.some(({ outcome }) => outcome === 'delivered')
      return { kind: 'tested', messageId, body, delivered, responses }
    } finally {
      inProgress--
    }
  }
}

const notInUse = objectRefusal(
  'not_in_use',
  'The destination is excluded, because its document has problems: correct them first.',
)
const tooManyTests = objectRefusal(
  'unavailable',
  `${maxTests} test messages are in progress: send the request again after the time in Retry-After.`,
  { retryAfter: 5 },
)
