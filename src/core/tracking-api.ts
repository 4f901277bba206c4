import type { BodyOwner } from './collector/body-budget.ts'
import type { CallType, RejectionCode } from './message/message.ts'
import type { TraceContext } from './trace/tracer.ts'
import type { EpochMs } from './units.ts'

/** A request of the tracking API whose body has been read, unpacked and counted. */
export interface TrackingRequest {
  /** What the path says that its one message is; undefined where the body is a batch. */
  readonly type: CallType | undefined
  /** From a header; beats the body's. */
  readonly headerKey: string | undefined
  /** From the query; counts when neither a header nor the body has one. */
  readonly queryKey: string | undefined
  /** UTF-8 text, without a byte order mark. */
  readonly body: string
  /** Moves the memory of the body to the share of its source, once that is known. False: there is no room for it. */
  assign(sourceId: string): boolean
  /** `X-Strict-Mode: 1`: one rejected message refuses the whole request. */
  readonly strict: boolean
  readonly receivedAt: EpochMs
  /** What storing it is part of; undefined without traces. */
  readonly trace?: TraceContext | undefined
}

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

export type TrackingAnswer =
  /** Every accepted message is acknowledged by all in-sync replicas. */
  { readonly kind: 'accepted'; readonly rejected: readonly RejectedMessage[] } | Refusal

/** Whether the source with a write key may send at present. */
export type Admission = { readonly kind: 'admitted'; readonly sourceId: string } | Refusal

/** The memory of one request body, from its first byte until the request is answered. */
export interface BodyMemory {
  /** False: there is no room, and the request has to be refused `unavailable`. */
  take(bytes: number): boolean
  /** The source of the body has become known. False: as for `take`. */
  assign(sourceId: string): boolean
  /** The body is complete: it is not evicted any more. */
  received(): void
  /** Gives all of it back. */
  release(): void
}

/** What stands behind the routes of the tracking API. */
export interface TrackingApi {
  accept(request: TrackingRequest): Promise<TrackingAnswer>
  /** Whether a source has this write key: what SDKs ask for their settings with. */
  isWriteKey(key: string): boolean
  /** Judges a sender by its key before the body is read: what is refused then costs little. */
  admit(key: string): Admission
  /**
   * Opens the memory of a body: in the share of its source, or, while that is not known, of its client address. `onEvicted`: others
   * need that memory more, and the request has to be refused `unavailable`.
   */
  openBody(owner: BodyOwner, onEvicted: () => void): BodyMemory
  /** Takes `bytes` of memory for a request of an operator, until `release`: false when there is no room. */
  reserve(bytes: number): boolean
  release(bytes: number): void
}
