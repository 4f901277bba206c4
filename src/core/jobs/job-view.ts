import { toIsoTimestamp } from '../message/timestamp.ts'
import type { EpochMs } from '../time.ts'
import type { Job } from './job.ts'

/** A job as the operator API shows it. `isFull`: whether the reader may see user ids. */
export function jobViewOf(job: Job, isFull: boolean): object {
  const { id, kind, state, createdAt, createdBy, startedAt, endedAt, rate, isDryRun, isCancelRequested, error } = job
  return {
    ...{ id, kind, state, createdAt: toIsoTimestamp(createdAt), createdBy },
    ...{ startedAt: iso(startedAt), endedAt: iso(endedAt) },
    ...requestOf(job, isFull),
    rate,
    ...(isDryRun === true && { dryRun: true }),
    ...(isCancelRequested === true && { cancelRequested: true }),
    progress: job.progress,
    ...(job.kind === 'replay' ? { counts: job.counts } : { missing: job.missing }),
    error,
  }
}

function requestOf(job: Job, isFull: boolean): object {
  if (job.kind === 'resend') {
    const { destination, since, until, types, userIds } = job
    const users = isFull ? { userIds } : { userCount: userIds?.length }
    return { destination, since: iso(since), until: iso(until), types, ...users }
  }
  const { messageId, since, until, ...others } = job.filters
  return {
    filters: { ...others, since: iso(since), until: iso(until), message: messageId },
    ...(job.evenDisconnected === true && { evenDisconnected: true }),
  }
}

const iso = (time: EpochMs | undefined): string | undefined => (time === undefined ? undefined : toIsoTimestamp(time))
