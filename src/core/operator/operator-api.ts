import type { SyncId, SyncMode } from '../audience/sync.ts'
import type { DeletionState, DeletionStatus } from '../deletion/deletion-status.ts'
import type { Refusal } from '../message/refusal.ts'
import type { TraceContext } from '../trace/tracer.ts'

/** The list of a sync did not come to its end. Thrown by `SyncRequest.lines`. */
export class UploadCutShort extends Error {
  override readonly name = 'UploadCutShort'
  readonly code = 'upload_cut_short'
}

export interface SyncRequest {
  readonly audience: string
  readonly mode: SyncMode
  /** Whether a full sync of nobody is meant. */
  readonly allowEmpty: boolean
  /** As they come in; read no faster than Kafka takes them. Throws UploadCutShort. */
  readonly lines: AsyncIterable<readonly string[]>
  /** What follows from it is linked to this; undefined without traces. */
  readonly trace?: TraceContext | undefined
}

export type SyncAnswer =
  | { readonly kind: 'synced'; readonly syncId: SyncId; readonly received: number }
  /** Whoever gave the lines knows why. Nobody is taken out. */
  | { readonly kind: 'cut_short' }
  | Refusal

export type DeletionAnswer =
  /** All of it is acknowledged. */
  { readonly kind: 'accepted'; readonly id: string; readonly status: DeletionState; readonly users: number } | Refusal

export type DeletionFound = { readonly kind: 'found'; readonly status: DeletionStatus } | Refusal

/** What stands behind the routes of the operator API. */
export interface OperatorApi {
  /** `input`: a deletion request as it was parsed from JSON. `trace`: what its delete messages are a part of. */
  deleteUsers(input: unknown, trace?: TraceContext): Promise<DeletionAnswer>
  findDeletion(id: string): Promise<DeletionFound>
  /** Undefined: there is an audience of this name. */
  refuseAudience(name: string): Refusal | undefined
  sync(request: SyncRequest): Promise<SyncAnswer>
}

/** Writes one line for each change that an operator makes, at every log level. */
export type AuditLog = (fields: object) => void
