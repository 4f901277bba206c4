import { type DurationMs, durationMs, type EpochMs } from '../time.ts'
import { conflicts, hasEnded, type Job, type JobWork, jobKeyOf } from './job.ts'

/*
 * The steps of a job. Each step writes a record. If several processes write concurrently,
 * `jobs-from-topic.ts` decides which record is applied.
 *
 *   waiting --claim--> running --finish--> done, failed, cancelled
 *      ^                  |  \--claim (by another process, after 10 s without a record)--> running
 *      '------release-----'
 */

/**
 * Maximum time between two records of a running job. The records show other processes that the
 * owner still runs the job.
 */
export const checkpointEvery = durationMs(1_000)
/**
 * Duration of the owner's lease, from the time at which the owner sends a record of the job. The
 * lease is valid only after the owner has read the record back: if another process wrote first, all
 * processes ignore the record. Without a valid lease, the owner must copy no event or dead letter.
 */
export const ownerLease = durationMs(5_000)
/**
 * If a running job has no new record for this time, another process takes it over. The time is
 * longer than the owner's lease.
 */
export const takeOverAfter = durationMs(10_000)
/**
 * One process runs at most this many dry runs and, in addition, at most this many other jobs. A job
 * with an `error` does not count until it makes progress.
 */
const maxActive = 4
/** Maximum number of jobs that one process runs, including dry runs and jobs with an `error`. */
const maxOwned = 16

/** Makes the next record of a job. `writeId` identifies this record. */
export type NextRecord = (job: Job, writeId: string) => Job

type Changed = JobWork & Partial<Pick<Job, 'state' | 'owner' | 'startedAt' | 'endedAt' | 'isCancelRequested'>>

// The cast is safe: a caller changes only fields that a job of this kind (replay or resend) has.
const next = (job: Job, writeId: string, changed: Changed): Job =>
  ({ ...job, version: job.version + 1, writeId, copy: 0, ...changed }) as Job

/** The record by which a process starts a job or takes it over. */
export const claimed =
  (owner: string, now: EpochMs): NextRecord =>
  (job, writeId) =>
    next(job, writeId, { state: 'running', owner, startedAt: job.startedAt ?? now })

/**
 * The record by which a process that stops releases an unfinished job. Another process can then run
 * the job.
 */
export const released =
  (changed: JobWork): NextRecord =>
  (job, writeId) => {
    const { owner: _, ...others } = job
    return next(others as Job, writeId, { ...changed, state: 'waiting' })
  }

/** The record with the progress of a running job. */
export const advanced =
  (changed: JobWork): NextRecord =>
  (job, writeId) =>
    next(job, writeId, changed)

/** Makes the last record of a job. A job that failed has its `error` in `changed`. */
export const ended =
  (state: 'done' | 'failed' | 'cancelled', now: EpochMs, changed: JobWork = {}): NextRecord =>
  (job, writeId) =>
    next(job, writeId, { error: undefined, ...changed, state, endedAt: now })

/**
 * Returns the record that cancels a job, if it can be cancelled. A running job ends only after its
 * owner has read the record.
 */
export function cancelOf(job: Job, now: EpochMs): NextRecord | undefined {
  if (hasEnded(job) || job.isCancelRequested === true) return undefined
  if (job.state === 'waiting') return ended('cancelled', now)
  return (known, writeId) => next(known, writeId, { isCancelRequested: true })
}

export interface ClaimContext {
  /** Milliseconds since this process read the last record of a job. */
  readonly sinceLastRecord: (job: Job) => DurationMs
  /** The keys (`<kind>/<id>`) of the jobs that this process runs. */
  readonly own: ReadonlySet<string>
}

/**
 * Returns the job that this process should start or take over next. Of conflicting waiting jobs,
 * the oldest starts first.
 */
export function nextClaim(open: Iterable<Job>, { sinceLastRecord, own }: ClaimContext): Job | undefined {
  if (own.size >= maxOwned) return undefined
  const jobs = [...open].sort(byCreation)
  const active = jobs.filter(job => own.has(jobKeyOf(job)) && job.error === undefined)
  const hasRoom = ({ isDryRun }: Job): boolean => active.filter(other => other.isDryRun === isDryRun).length < maxActive
  return jobs.find((job, index) => {
    if (own.has(jobKeyOf(job)) || !hasRoom(job)) return false
    if (job.state === 'running') return sinceLastRecord(job) >= takeOverAfter
    return !jobs.some(
      (other, at) => other !== job && (other.state === 'running' || at < index) && conflicts(other, job),
    )
  })
}

/**
 * Compares jobs by creation time. If the times are equal, the keys decide, so that every process
 * has the same order.
 */
export const byCreation = (a: Job, b: Job): number => a.createdAt - b.createdAt || (jobKeyOf(a) < jobKeyOf(b) ? -1 : 1)

/**
 * `cancelled`: the process must stop and write that the job has ended. `lost`: it must stop and
 * write nothing.
 */
export type Ownership = 'owned' | 'cancelled' | 'lost'

export function ownershipOf(job: Job | undefined, owner: string): Ownership {
  if (job === undefined || job.state !== 'running' || job.owner !== owner) return 'lost'
  return job.isCancelRequested === true ? 'cancelled' : 'owned'
}
