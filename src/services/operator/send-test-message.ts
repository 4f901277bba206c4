import { notFound, type ObjectRefusal, objectRefusal } from '../../core/operator/object-refusal.ts'
import {
  type TestRequest,
  type TestResponse,
  type TestResult,
  testMessageOf,
  testResponseOf,
} from '../../core/operator/test-message.ts'
import type { Clock } from '../../core/ports.ts'
import type { DeliveryRules } from '../../core/settings/effective-policy.ts'
import type { Destination, PayloadSettings } from '../../core/settings/settings.ts'
import type { WebhookTransport } from '../../core/webhook-ports.ts'
import type { Authorize } from '../dispatcher/authorized-transport.ts'

export interface SendTestDeps {
  readonly transport: Pick<WebhookTransport, 'post'>
  /**
   * Returns a transport that adds an access token. Each test requests a new token, to test the
   * token settings too.
   */
  readonly authorize: Authorize
  /** `undefined` when Hookline uses no destination with this id. */
  readonly destination: (id: string) => Destination | undefined
  /** Whether a destination with this id exists, even if Hookline cannot use it. */
  readonly exists: (id: string) => boolean
  readonly payload: () => PayloadSettings
  readonly delivery: DeliveryRules
  readonly clock: Clock
}

/** Maximum number of concurrent test messages in one process. Each takes at most some seconds. */
const maxTests = 8

/**
 * Sends a signed test message to each webhook of a destination, even of a paused or disabled one.
 * Does not retry, and ignores the destination's limits.
 */
export function createSendTest(deps: SendTestDeps): (id: string) => Promise<TestResult | ObjectRefusal> {
  const { transport, authorize, delivery, clock } = deps
  let inProgress = 0

  const send = (request: TestRequest, by: SendTestDeps['transport']): Promise<TestResponse> => {
    const startedAt = clock.monotonic()
    return new Promise(resolve => {
      by.post(request.call, result => resolve(testResponseOf(request, result, clock.monotonic() - startedAt)))
    })
  }

  return async id => {
    const destination = deps.destination(id)
    if (destination === undefined || destination.isPlaceholder === true) return deps.exists(id) ? notInUse : notFound
    if (inProgress >= maxTests) return tooManyTests
    inProgress++
    try {
      const { messageId, body, requests } = testMessageOf(destination, {
        ...{ id: clock.id(), at: clock.now(), payload: deps.payload(), delivery },
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

/** The refusal of an API request for a destination whose document has problems. */
export const notInUse = objectRefusal(
  'not_in_use',
  'Hookline does not use the destination now, because its document has problems: correct them (GET /v1/destinations/{id} lists them), then send the request again.',
)
const tooManyTests = objectRefusal(
  'unavailable',
  `The maximum of ${maxTests} concurrent test messages is reached: send the request again after the time in Retry-After.`,
  { retryAfter: 5 },
)
