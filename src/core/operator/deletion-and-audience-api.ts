import type { SyncMode } from '../audience/audience-watermark.ts'
import type { SyncId } from '../audience/sync-id.ts'
import type { DeletionState, DeletionStatus } from '../deletion/deletion-record-and-status.ts'
import type { Refusal } from '../message/request-refusal.ts'
import type { TraceContext } from '../trace/context.ts'

/** Thrown by `SyncRequest.lines` when the upload ends early. */
export class UploadCutShort extends Error {
  override readonly name = 'UploadCutShort'
  readonly code = 'upload_cut_short'
}

export interface SyncRequest {
  readonly audience: string
  readonly mode: SyncMode
  /** Whether a full sync may have an empty list, and so remove all members. */
  readonly allowEmpty: boolean
  /**
   * The lines of the upload; `undefined` for a line that is not UTF-8. They are read no faster than
   * Kafka accepts records. Reading throws `UploadCutShort` when the upload ends early.
   */
  readonly lines: AsyncIterable<readonly (string | undefined)[]>
  /** The trace that the resulting records link to. */
  readonly trace?: TraceContext | undefined
}

export type SyncAnswer =
  | { readonly kind: 'synced'; readonly syncId: SyncId; readonly received: number }
  /** The upload ended early. No member is removed. */
  | { readonly kind: 'cut_short' }
  | Refusal

export type DeletionAnswer =
  /** Kafka has acknowledged all records of the deletion. */
  { readonly kind: 'accepted'; readonly id: string; readonly status: DeletionState; readonly users: number } | Refusal

export type DeletionFound = { readonly kind: 'found'; readonly status: DeletionStatus } | Refusal

/** The operations behind the routes for deletions and audiences. */
export interface DeletionAndAudienceApi {
  /** `input`: a deletion request as parsed from JSON. `trace`: the trace of its delete messages. */
  deleteUsers(input: unknown, trace?: TraceContext): Promise<DeletionAnswer>
  findDeletion(id: string): Promise<DeletionFound>
  /** Returns a refusal when no audience has this name, otherwise `undefined`. */
  refuseAudience(name: string): Refusal | undefined
  sync(request: SyncRequest): Promise<SyncAnswer>
}
