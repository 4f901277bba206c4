import type { RejectionCode } from './message-rejection.ts'

/**
 * A rejected message of a batch. In strict mode, one rejected message makes the collector refuse
 * the whole batch.
 */
export interface RejectedMessage {
  /** Index of the message in the batch, from 0. */
  readonly index: number
  /** The sender's message id; `undefined` when it is missing or unreadable. */
  readonly messageId: string | undefined
  readonly code: RejectionCode
  /** Names the invalid field and says what to do. */
  readonly message: string
}

/**
 * Upper bound of the memory for a rejected message and its JSON. A character of `messageId` takes 2
 * bytes, and up to 6 more in the JSON.
 */
export const maxBytesOfRejected = ({ messageId = '', code, message }: RejectedMessage): number =>
  192 + 2 * (code.length + message.length) + 8 * messageId.length

/** Why a whole request is refused, with the HTTP status of the response. */
export const refusalStatus = {
  invalid_json: 400,
  invalid_body: 400,
  rejected: 400,
  unknown_source: 400,
  invalid_write_key: 401,
  invalid_operator_key: 401,
  forbidden: 403,
  not_found: 404,
  unknown_audience: 404,
  method_not_allowed: 405,
  payload_too_large: 413,
  rate_limited: 429,
  unavailable: 503,
} as const

export type RefusalCode = keyof typeof refusalStatus

export interface Refusal {
  readonly kind: 'refused'
  readonly code: RefusalCode
  /** Says what is wrong with the request and what to do. */
  readonly message: string
  /** Seconds until the client may retry, for `rate_limited` and `unavailable`. */
  readonly retryAfter: number | undefined
  /** In strict mode: the rejected messages. Otherwise empty. */
  readonly rejected: readonly RejectedMessage[]
}

/** Creates a refusal; `retryAfter` is in seconds. */
export const refusal = (
  code: RefusalCode,
  message: string,
  more: { readonly retryAfter?: number; readonly rejected?: readonly RejectedMessage[] } = {},
): Refusal => ({ kind: 'refused', code, message, retryAfter: more.retryAfter, rejected: more.rejected ?? [] })

export const kafkaUnavailable = refusal(
  'unavailable',
  'Kafka is unavailable: send the whole request again after the time in Retry-After.',
  { retryAfter: 5 },
)
export const noMemory = refusal(
  'unavailable',
  'Too many requests are in progress: send this request again after the time in Retry-After.',
  { retryAfter: 1 },
)
export const neverFits = refusal(
  'payload_too_large',
  'The body needs more memory than one request may use: send smaller requests.',
)
