import { messageRequestsOf } from '../delivery/requests-for-preview-or-test.ts'
import type { JsonText } from '../message/canonical-json-text.ts'
import type { Message } from '../message/message.ts'
import type { Destination, PayloadSettings } from '../settings/settings.ts'
import type { EpochMs } from '../time.ts'
import { type MaskedRequest, maskedRequest } from './masked-request.ts'

/** The requests that Hookline would send now, without secrets and signatures. */
export interface RequestPreview {
  readonly requests: readonly (MaskedRequest & {
    /** The label of the webhook: its id or, without an id, its position from 0. */
    readonly webhook: string
  })[]
  /** The body of each request. */
  readonly body: JsonText
  readonly paused?: true
}

/** Why a preview has no requests. */
export interface NoRequest<Reason extends string> {
  readonly reason: Reason
  /** The reason, and what to do about it. */
  readonly message: string
}

/**
 * The headers with signatures, which a preview masks. With a signature, an operator could send the
 * message in Hookline's name, without an entry in the audit log.
 */
const signatureHeaders = ['X-Signature', 'webhook-signature']

/** Previews the requests with which a destination would get a message at the time `at`. */
export function requestPreviewOf(
  destination: Destination,
  message: Message,
  context: { readonly at: EpochMs; readonly payload: PayloadSettings },
): RequestPreview {
  const { auth, paused } = destination
  const { body, requests } = messageRequestsOf(destination, message, context)
  return {
    body,
    requests: requests.map(({ webhook, call }) => ({
      webhook: webhook.label,
      ...maskedRequest(call, { webhook, auth }, signatureHeaders),
    })),
    ...(paused && { paused }),
  }
}
