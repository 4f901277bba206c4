import { classify, type Outcome } from '../delivery/outcomes-reasons-and-classification.ts'
import { messageRequestsOf } from '../delivery/requests-for-preview-or-test.ts'
import type { JsonText } from '../message/canonical-json-text.ts'
import { ownEvent } from '../message/own-event-builder-and-source-ids.ts'
import { type DeliveryRules, effectivePolicy } from '../settings/effective-policy.ts'
import type { Destination, PayloadSettings } from '../settings/settings.ts'
import type { EpochMs } from '../time.ts'
import type { CallResult, ResponseBody, WebhookCall } from '../webhook-ports.ts'
import { maskSecrets, secretTextsOf } from './mask-destination-secrets-in-text.ts'
import { type MaskedRequest, maskedRequest } from './masked-request.ts'

/** The request of a test message to one webhook, as sent and as shown. */
export interface TestRequest {
  /** The label of the webhook: its id or, without an id, its position from 0. */
  readonly webhook: string
  readonly call: WebhookCall
  readonly shown: MaskedRequest
  /** The secrets to mask in the response of the endpoint, which can repeat the request. */
  readonly secrets: readonly string[]
}

/** A test message with its requests. */
export interface TestMessage {
  readonly messageId: string
  readonly body: JsonText
  readonly requests: readonly TestRequest[]
}

/** What one webhook responded to a test message. */
export interface TestResponse {
  readonly webhook: string
  readonly request: MaskedRequest
  readonly outcome: Outcome
  /** The HTTP status; `undefined` when there was no response. */
  readonly status?: number | undefined
  readonly failure?: { readonly phase: string; readonly code: string; readonly detail: string } | undefined
  readonly tookMs: number
  readonly responseBody?: ShownBody | undefined
}

/** The first 4 KiB of a body. */
export interface ShownBody {
  /** The text of the body as UTF-8, with masked secrets; `undefined` when compressed. */
  readonly text?: string | undefined
  /** The compression, for example `gzip`. */
  readonly contentEncoding?: string | undefined
  /** Whether the body is longer than 4 KiB, or did not arrive completely. */
  readonly truncated: boolean
}

/** Maximum bytes of the endpoint's response that a test shows. */
const keepBodyBytes = 4_096

export interface TestResult {
  readonly kind: 'tested'
  readonly messageId: string
  readonly body: JsonText
  /** Whether a webhook accepted the message. */
  readonly delivered: boolean
  readonly responses: readonly TestResponse[]
}

/** The name of the event in a test message. */
const testEvent = 'Hookline Test'

interface TestContext {
  readonly id: string
  readonly at: EpochMs
  readonly payload: PayloadSettings
  readonly delivery: DeliveryRules
}

/** A test message: a track message, signed like every other message. */
export function testMessageOf(destination: Destination, { id, at, payload, delivery }: TestContext): TestMessage {
  const { policy, auth } = destination
  const { timeout: timeoutMs } = effectivePolicy(policy, delivery)
  const messageId = `test-${id}`
  const { message } = ownEvent({
    ...{ type: 'track', messageId, anonymousId: id, event: testEvent, at },
    ...{ sourceId: destination.sources[0] ?? '', destinationId: destination.id },
  })
  const secrets = secretTextsOf(destination)
  const { body, requests } = messageRequestsOf(destination, message, { at, payload })
  return {
    messageId,
    body,
    requests: requests.map(({ webhook, call }) => ({
      webhook: webhook.label,
      call: { ...call, timeoutMs, keepBodyBytes },
      shown: maskedRequest(call, { webhook, auth }),
      secrets,
    })),
  }
}

function shownBodyOf(body: ResponseBody, secrets: readonly string[]): ShownBody {
  const { bytes, isTruncated: truncated, contentEncoding } = body
  if (contentEncoding !== undefined && contentEncoding !== 'identity')
    return { contentEncoding: maskSecrets(contentEncoding, secrets, false), truncated }
  // A character that is cut at the end is left out. Other invalid UTF-8 becomes U+FFFD.
  const text = new TextDecoder().decode(bytes, { stream: truncated })
  return { text: maskSecrets(text, secrets, truncated), truncated }
}

export function testResponseOf(request: TestRequest, result: CallResult, tookMs: number): TestResponse {
  const { webhook, shown } = request
  const common = { webhook, request: shown, outcome: classify(result), tookMs: Math.round(tookMs) }
  if (result.kind === 'answered') {
    const { status, body, accessToken } = result
    const secrets = accessToken === undefined ? request.secrets : [...request.secrets, accessToken.reveal()]
    return { ...common, status, ...(body !== undefined && { responseBody: shownBodyOf(body, secrets) }) }
  }
  const { phase, code, detail } = result
  return { ...common, failure: { phase, code, detail } }
}
