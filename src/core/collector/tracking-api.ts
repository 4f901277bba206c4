import type { CallType } from '../message/message.ts'
import type { Refusal, RejectedMessage } from '../message/refusal.ts'
import type { TraceContext } from '../trace/tracer.ts'
import type { EpochMs } from '../units.ts'
import type { BodyOwner } from './memory-budget.ts'

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
