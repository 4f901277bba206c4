import type { JsonObject } from '../message/json.ts'
import type { ObjectRefusal } from '../operator/object-refusal.ts'
import type { Job, JobKind } from './job.ts'

/** A request to create a job. */
export interface NewJob {
  readonly kind: JobKind
  readonly body: JsonObject
  /** The name of the operator key. */
  readonly by: string
  /** The header `Idempotency-Key`: requests of one operator key with the same one create one job. */
  readonly idempotencyKey?: string | undefined
}

/** The operations behind the routes for replays and resends. */
export interface JobsApi {
  create(request: NewJob): Promise<Job | ObjectRefusal>
  /** The newest 100 jobs of a kind, newest first. */
  list(kind: JobKind): readonly Job[]
  get(kind: JobKind, id: string): Promise<Job | ObjectRefusal>
  /** Asks the process that runs the job to stop it. The job of the answer may still be running. */
  cancel(kind: JobKind, id: string): Promise<Job | ObjectRefusal>
}
