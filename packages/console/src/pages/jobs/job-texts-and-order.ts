import { defaultResendRate } from '../../../../../src/core/jobs/job-rates.ts'
import { dryRunSums } from '../../../../../src/core/jobs/replay-dry-run-sums.ts'
import { tooLargeText } from '../../../../../src/core/jobs/too-large-events-text.ts'
import type { Replay, Resend } from '../../api/job-types.ts'
import { countText, countWithNoun, rateText } from '../../components/number-text.ts'

export type AnyJob = Replay | Resend

/** The list of a job, as named in the addresses of the API and the console. */
export const listOf = ({ kind }: Pick<AnyJob, 'kind'>): 'replays' | 'resends' =>
  kind === 'replay' ? 'replays' : 'resends'

export function titleOf(job: AnyJob): string {
  if (job.dryRun === true) return `Dry run of a ${job.kind}`
  return job.kind === 'resend' ? 'Resend' : 'Replay'
}

export const isActive = ({ state }: Pick<AnyJob, 'state'>): boolean => state === 'waiting' || state === 'running'

/** The records that a job has read (`done`), and must read (`total`; absent while not known). */
export interface Done {
  readonly done: number
  readonly total?: number
}

export function doneOf(job: AnyJob): Done {
  const { total } = job.progress ?? {}
  const done = (job.kind === 'replay' ? job.progress?.seen : job.progress?.read) ?? 0
  return total === undefined ? { done } : { done, total: Math.max(total, done) }
}

/** For example `9 of 10 events read, 8 resent, 1 skipped`. */
export function progressText(job: AnyJob): string {
  const { progress } = job
  if (progress === undefined) return 'not started yet'
  const { done, total } = doneOf(job)
  const noun = job.kind === 'replay' ? 'dead letter' : 'event'
  const part = total === undefined ? countWithNoun(done, noun) : `${countText(done)} of ${countWithNoun(total, noun)}`
  return 'sent' in progress
    ? `${part} read, ${resendResultText(job, progress)}`
    : `${part} read; of those that match the filters, ${replayResultText(job as Replay, progress)}`
}

function resendResultText({ dryRun }: AnyJob, { sent, skipped, tooLarge }: NonNullable<Resend['progress']>): string {
  const why =
    '(for example events for other destinations, of types or users that were not selected, or of deleted users)'
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

/** Lists the partitions in which retention removed records before a resend read these records. */
export function missingText(missing: Resend['missing']): string {
  if (missing === undefined || missing.length === 0) return 'none'
  return missing
    .map(({ partition, firstOffset }) => `partition ${partition}: some events before offset ${firstOffset}`)
    .join(', ')
}
