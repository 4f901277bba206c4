import type { RejectionCode } from './message.ts'

/** A message of the batch that was not taken; the others were. */
export interface RejectedMessage {
  /** Its position in the batch. */
  readonly index: number
  /** As its sender gave it; undefined when it gave none that can be read. */
  readonly messageId: string | undefined
  readonly code: RejectionCode
  /** Names the field and says what to do. */
  readonly message: string
}

/** Why a whole request is refused, with the status that tells so. */
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
  /** Says what to do. */
  readonly message: string
  /** Seconds until it may be tried again: `rate_limited`, `unavailable`. */
  readonly retryAfter: number | undefined
  /** Strict mode: what was wrong with which message. */
  readonly rejected: readonly RejectedMessage[]
}

/** `retryAfter` in seconds. */
export const refusal = (
  code: RefusalCode,
  message: string,
  more: { readonly retryAfter?: number; readonly rejected?: readonly RejectedMessage[] } = {},
): Refusal => ({ kind: 'refused', code, message, retryAfter: more.retryAfter, rejected: more.rejected ?? [] })
