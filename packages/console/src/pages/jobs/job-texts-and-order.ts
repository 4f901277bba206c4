import { defaultResendRate } from '../../../../../src/core/jobs/max-and-default-job-rates.ts'
import { dryRunSums } from '../../../../../src/core/jobs/replay-dry-run-sums.ts'
import { tooLargeText } from '../../../../../src/core/jobs/too-large-events-text.ts'
import type { AnyJob, Replay, Resend } from '../../api/job-types.ts'
import { countText, countWithNoun, rateText } from '../../components/number-text.ts'

export function titleOf(job: AnyJob): string {
  if (job.dryRun === true) return `Dry run of a ${job.kind}`
  return job.kind === 'resend' ? 'Resend' : 'Replay'
}

/**
 * The number of records that a job has read (`done`), and the number that it must read in total
 * (`total`; absent while not known).
 */
export interface ReadProgress {
  readonly done: number
  readonly total?: number
}

export function readProgressOf(job: AnyJob): ReadProgress {
  const { total } = job.progress ?? {}
  const done = (job.kind === 'replay' ? job.progress?.seen : job.progress?.read) ?? 0
  return total === undefined ? { done } : { done, total: Math.max(total, done) }
}

/** For example `9 of 10 events read, 8 resent, 1 skipped`. */
export function progressText(job: AnyJob): string {
  const { progress } = job
  if (progress === undefined) return 'not started yet'
  const { done, total } = readProgressOf(job)
  const noun = job.kind === 'replay' ? 'dead letter' : 'event'
  const part = total === undefined ? countWithNoun(done, noun) : `${countText(done)} of ${countWithNoun(total, noun)}`
  return 'sent' in progress
    ? `${part} read, ${resendResultText(job, progress)}`
    : `${part} read; of those that match the filters: ${replayResultText(job as Replay, progress)}`
}

function resendResultText({ dryRun }: AnyJob, { sent, skipped, tooLarge }: NonNullable<Resend['progress']>): string {
  const why = '(for example events for other destinations, events of other types or users, and events of deleted users)'
  return dryRun === true
    ? `${countText(sent)} would be resent, ${countText(skipped)} would be skipped ${why}`
    : `${countText(sent)} resent, ${countText(skipped)} skipped ${why}${tooLargeText(tooLarge)}`
}

function replayResultText({ dryRun, counts }: Replay, progress: NonNullable<Replay['progress']>): string {
  const sums = dryRunSums(progress, counts)
  return dryRun === true
    ? `${countText(sums.replayable)} can be replayed, ${countText(sums.refused)} cannot be replayed`
    : `${countText(progress.replayed)} replayed, ${countText(progress.refused)} not replayed`
}

export const newestFirst = (replays: readonly Replay[], resends: readonly Resend[]): readonly AnyJob[] =>
  [...replays, ...resends].sort((a, b) => (a.createdAt < b.createdAt ? 1 : -1))

export function jobRateText({ kind, rate }: Pick<AnyJob, 'kind' | 'rate'>): string {
  if (rate !== undefined) return `at most ${rateText(rate)} messages per second`
  return kind === 'resend' ? `at most ${defaultResendRate} messages per second` : 'no limit'
}

/** Lists the partitions in which Kafka's retention deleted events before the resend read them. */
export function missingText(missing: Resend['missing']): string {
  if (missing === undefined || missing.length === 0) return 'none'
  return missing
    .map(({ partition, firstOffset }) => `some events of partition ${partition} before offset ${firstOffset}`)
    .join(', ')
}
