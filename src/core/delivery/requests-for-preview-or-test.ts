import type { JsonText } from '../message/canonical-json-text.ts'
import type { Message } from '../message/message.ts'
import type { Destination, PayloadSettings, Webhook } from '../settings/settings.ts'
import type { EpochMs } from '../time.ts'
import type { WebhookCall } from '../webhook-ports.ts'
import { requestsOf } from './build-and-sign-requests.ts'
import { bodyOf } from './payload.ts'

/** The requests that send a message to a destination, one for each webhook. */
export interface MessageRequests {
  readonly body: JsonText
  readonly requests: readonly { readonly webhook: Webhook; readonly call: WebhookCall }[]
}

/** Makes the requests that an attempt at the time `at` would send, but without an access token. */
export function messageRequestsOf(
  destination: Destination,
  message: Message,
  { at, payload }: { readonly at: EpochMs; readonly payload: PayloadSettings },
): MessageRequests {
  const { webhooks } = destination
  const { messageId } = message
  const body = bodyOf(message, payload)
  const calls = requestsOf({ destination, webhooks, body: Buffer.from(body), messageId, at, payload })
  return { body, requests: webhooks.map((webhook, index) => ({ webhook, call: calls[index] as WebhookCall })) }
}
