import type { JsonObject } from '../message/json.ts'
import type { ObjectRefusal } from '../operator/object-refusal.ts'
import type { Job, JobKind } from './job.ts'

/** A request to create a job. */
export interface NewJob {
  readonly kind: JobKind
  readonly body: JsonObject
  /** The name of the operator key with which the job is requested. */
  readonly by: string
  /**
   * The header `Idempotency-Key`. Requests with the same header and operator key create only one
   * job of each kind. A repeated request with another body is refused.
   */
  readonly idempotencyKey?: string | undefined
}

/** The operations behind the routes for replays and resends. */
export interface JobsApi {
  create(request: NewJob): Promise<Job | ObjectRefusal>
  /** The newest 100 jobs of a kind, newest first. */
  list(kind: JobKind): readonly Job[]
  get(kind: JobKind, id: string): Promise<Job | ObjectRefusal>
  /**
   * Requests the cancellation of a job. A running job ends only when its owner reads the request.
   */
  cancel(kind: JobKind, id: string): Promise<Job | ObjectRefusal>
}
