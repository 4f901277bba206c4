import { type DurationMs, durationMs, type EpochMs } from '../time.ts'
import { conflicts, hasEnded, type Job, type JobWork, jobKeyOf } from './job.ts'

/*
 * The steps of a job: each function returns the next record of a job, or says which job a process
 * may start. `job-log.ts` decides which of several concurrent records counts.
 *
 *   waiting --claim--> running --finish--> done, failed, cancelled
 *      ^                  |  \--claim (by another process, after 10 s without a record)--> running
 *      '------release-----'
 */

/** Maximum time between two records of a running job. */
export const checkpointEvery = durationMs(1_000)
/**
 * The lease of the owner of a job. It begins when the owner sends a record of the job, if that
 * record is then applied. After its end the owner writes no copy until another record is applied.
 */
export const ownerLease = durationMs(5_000)
/**
 * Another process takes over a job of which it has seen no record for this time. It is longer than
 * the lease, so that the earlier owner has stopped.
 */
export const takeOverAfter = durationMs(10_000)
/** Maximum number of jobs that one process runs concurrently. */
export const maxRunning = 4

/** Makes the next record of a job. */
export type NextRecord = (job: Job, writeId: string) => Job

type Changed = JobWork & Partial<Pick<Job, 'state' | 'owner' | 'startedAt' | 'endedAt' | 'isCancelRequested'>>

// `changed` has the progress of the same kind of job.
const next = (job: Job, writeId: string, changed: Changed): Job =>
  ({ ...job, version: job.version + 1, writeId, copy: 0, ...changed }) as Job

/** The record by which a process starts a job or takes it over. */
export const claimed =
  (owner: string, now: EpochMs): NextRecord =>
  (job, writeId) =>
    next(job, writeId, { state: 'running', owner, startedAt: job.startedAt ?? now })

/** The record of a process that stops and leaves the job to another one. */
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

/** The last record of a job. */
export const ended =
  (state: 'done' | 'failed' | 'cancelled', now: EpochMs, changed: JobWork = {}): NextRecord =>
  (job, writeId) =>
    next(job, writeId, { ...changed, state, endedAt: now })

/**
 * The record that a request to cancel a job needs; `undefined` when it has ended or is being
 * cancelled. A job without an owner ends immediately, the owner of a running one ends it.
 */
export function cancelOf(job: Job, now: EpochMs): NextRecord | undefined {
  if (hasEnded(job) || job.isCancelRequested === true) return undefined
  if (job.state === 'waiting') return ended('cancelled', now)
  return (known, writeId) => next(known, writeId, { isCancelRequested: true })
}

export interface ClaimContext {
  /** Milliseconds since this process read the last record of a job. */
  readonly sinceLastRecord: (job: Job) => DurationMs
  /** The keys of the jobs that this process runs. */
  readonly own: ReadonlySet<string>
}

/**
 * The job that a process should claim next; `undefined` when there is none. Of waiting jobs that
 * conflict, the one that was created first starts first.
 */
export function nextClaim(open: Iterable<Job>, { sinceLastRecord, own }: ClaimContext): Job | undefined {
  if (own.size >= maxRunning) return undefined
  const jobs = [...open].sort(byCreation)
  return jobs.find((job, index) => {
    if (own.has(jobKeyOf(job))) return false
    if (job.state === 'running') return sinceLastRecord(job) >= takeOverAfter
    return !jobs.some(
      (other, at) => other !== job && (other.state === 'running' || at < index) && conflicts(other, job),
    )
  })
}

/** Compares by creation time. The key breaks ties, so that every process has the same order. */
export const byCreation = (a: Job, b: Job): number => a.createdAt - b.createdAt || (jobKeyOf(a) < jobKeyOf(b) ? -1 : 1)

/** What the owner of a job must do after a record of the job was read. */
export type Ownership = 'owned' | 'cancelled' | 'lost'

export function ownershipOf(job: Job | undefined, owner: string): Ownership {
  if (job === undefined || job.state !== 'running' || job.owner !== owner) return 'lost'
  return job.isCancelRequested === true ? 'cancelled' : 'owned'
}
