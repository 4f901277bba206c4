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
   * The type of the only message, if the path names it. Otherwise `undefined`: the body may be a
   * batch, a list of messages, or a single message.
   */
  readonly type: CallType | undefined
  readonly headerKey: string | undefined
  readonly queryKey: string | undefined
  /**
   * The source whose write key was found before the body was complete. Until the key in the body is
   * found, the request uses the CPU share of this source.
   */
  readonly sourceId: string | undefined
  /** The decoded text, without a byte order mark. */
  readonly body: string
  /**
   * Counts the body as memory of its source, no longer as memory without a known source. Returns
   * false when the source may not use more memory.
   */
  assign(sourceId: string): boolean
  /**
   * Counts further memory until the response is sent. Returns false when the source may not use
   * more memory.
   */
  reserve(bytes: number): boolean
  /** Whether `reserve` could succeed if no other request held memory. */
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
  /** All in-sync replicas have acknowledged every message that was not rejected. */
  { readonly kind: 'accepted'; readonly rejected: readonly RejectedMessage[] } | Refusal

/** Whether the source with a write key may send messages now. */
export type Admission = { readonly kind: 'admitted'; readonly sourceId: string } | Refusal

/** The memory of one request, from the first byte of its body until its response is sent. */
export interface BodyMemory {
  /**
   * Reserves memory for the body. If this returns false, the request must be refused with
   * `unavailable`.
   */
  take(bytes: number): boolean
  /** Whether `take` could succeed if no other request held memory. */
  canEverHold(bytes: number): boolean
  /**
   * Counts the body for its source, which is now known. Returns false when the source may not use
   * more memory.
   */
  assign(sourceId: string): boolean
  /**
   * Call this when the whole body has arrived. For a compressed body, call it only after the permit
   * for decompression was granted. From this call until `answered`, the body cannot be evicted to
   * free memory.
   */
  received(): void
  /**
   * After this call, counts only the response, which has `bytes` bytes. If the response is evicted
   * to free memory, the caller must close the connection.
   */
  answered(bytes: number): void
  release(): void
}

export interface TrackingApi {
  accept(request: TrackingRequest): Promise<TrackingAnswer>
  /** Whether a source has this write key. */
  isWriteKey(key: string): boolean
  /** Checks a write key before the body is read, so that a refusal is cheap. */
  admit(key: string): Admission
  /**
   * Opens the memory of a request. `onEvicted` is called when another request needs this memory:
   * the caller must then refuse the request with `unavailable` or, after the response, close the
   * connection.
   */
  openBody(owner: BodyOwner, onEvicted: () => void): BodyMemory
  /**
   * Reserves memory for a request to the operator API, until `release`. Returns false when not
   * enough memory is free.
   */
  reserve(bytes: number): boolean
  release(bytes: number): void
}
