import { requestsOf } from '../../../src/core/delivery/build-and-sign-requests.ts'
import { epochMs } from '../../../src/core/time.ts'
import { defaultPayload, destinationOf, webhookOf } from '../builders.ts'

export interface StandardWebhooksRequest {
  readonly body: Buffer
  readonly id: string
  readonly timestamp: string
  readonly signature: string
}

/** The request that the dispatcher makes for a destination. `at` is in seconds since 1970. */
export function standardWebhooksRequest(
  text: string,
  given: Parameters<typeof destinationOf>[0],
  { id, at }: { readonly id: string; readonly at: number },
): StandardWebhooksRequest {
  const body = Buffer.from(text)
  const made = { webhooks: [webhookOf(0)], body, messageId: id, at: epochMs(at * 1_000), payload: defaultPayload }
  const [call] = requestsOf({ destination: destinationOf(given), ...made })
  const headers = call?.headers ?? {}
  return {
    body,
    id: headers['webhook-id'] ?? '',
    timestamp: headers['webhook-timestamp'] ?? '',
    signature: headers['webhook-signature'] ?? '',
  }
}
