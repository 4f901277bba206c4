import type { CallType } from '../message/message.ts'
import type { Refusal, RejectedMessage } from '../message/request-refusal.ts'
import type { EpochMs } from '../time.ts'
import type { TraceContext } from '../trace/context.ts'
import type { BodyOwner } from './request-body-memory-budget.ts'

/**
 * A request to the tracking API whose body was received, decompressed and counted in the memory
 * budget.
 */
export interface TrackingRequest {
  /**
   * The type of the single message, from the path. `undefined` when the path names none: the body
   * may then be a batch, a list of messages or one message.
   */
  readonly type: CallType | undefined
  /** The write key from a header. It takes precedence over the body's key. */
  readonly headerKey: string | undefined
  /** The write key from the query. It is used when neither a header nor the body has a key. */
  readonly queryKey: string | undefined
  /**
   * The source whose write key was found before the body was complete: in a header, the query, or
   * the first part of a large body. The request gets its CPU time from the share of this source
   * until the key in the complete body is found. `undefined` when no key was found.
   */
  readonly sourceId: string | undefined
  /** The decoded text, without a byte order mark. */
  readonly body: string
  /**
   * Counts the memory of the body for its source instead of its client address. Returns false when
   * the source may not use more memory.
   */
  assign(sourceId: string): boolean
  /**
   * Counts more memory for the request, until its response is sent. Returns false when the source
   * may not use more memory.
   */
  reserve(bytes: number): boolean
  /**
   * Whether `reserve` could succeed if no other request held memory. If not, the same request never
   * succeeds.
   */
  canEverReserve(bytes: number): boolean
  /**
   * Whether the header `X-Strict-Mode: 1` is set: one rejected message then rejects the whole
   * request.
   */
  readonly strict: boolean
  readonly receivedAt: EpochMs
  /** The parent of the span in which the messages are stored; `undefined` when tracing is off. */
  readonly trace?: TraceContext | undefined
}

export type TrackingAnswer =
  /** Every message that was not rejected is stored: all in-sync replicas have acknowledged it. */
  { readonly kind: 'accepted'; readonly rejected: readonly RejectedMessage[] } | Refusal

/** Whether the source with a write key may send messages now. */
export type Admission = { readonly kind: 'admitted'; readonly sourceId: string } | Refusal

/** The memory of one request, from the first byte of its body until its response is sent. */
export interface BodyMemory {
  /**
   * Reserves memory for the body. Returns false when not enough memory is free; the request must
   * then be refused with `unavailable`.
   */
  take(bytes: number): boolean
  /**
   * Whether `take` could succeed if no other request held memory. If not, the same request never
   * succeeds.
   */
  canEverHold(bytes: number): boolean
  /**
   * Counts the memory of the body for its source, which is now known. Returns false when the source
   * may not use more memory.
   */
  assign(sourceId: string): boolean
  /**
   * Notes that the body is complete and does not wait to be unpacked. It cannot be evicted until
   * the request is answered.
   */
  received(): void
  /**
   * Notes that a response of this size is being sent. From now on, only the size of the response is
   * counted. The response can be evicted; the caller must then close the connection.
   */
  answered(bytes: number): void
  release(): void
}

/** The operations behind the HTTP routes of the tracking API. */
export interface TrackingApi {
  accept(request: TrackingRequest): Promise<TrackingAnswer>
  /** Whether a source has this write key. SDKs request their settings with it. */
  isWriteKey(key: string): boolean
  /** Checks a write key before the body is read, so that a refusal is cheap. */
  admit(key: string): Admission
  /**
   * Starts to count the memory of a request body. The memory counts for the source of the request
   * or, while the source is not known, for the client address. `onEvicted` is called when other
   * bodies need the memory. The caller must then refuse the request with `unavailable`. If the
   * request was answered already, the caller must close the connection of the request instead.
   */
  openBody(owner: BodyOwner, onEvicted: () => void): BodyMemory
  /**
   * Reserves memory for a request to the operator API, until `release`. Returns false when not
   * enough memory is free.
   */
  reserve(bytes: number): boolean
  release(bytes: number): void
}
