import type { Replay, Resend } from '../../api/job-types.ts'
import { countText, countWithNoun, rateText } from '../../components/number-text.ts'

export type AnyJob = Replay | Resend

/** Events per second of a resend without a rate, as `defaultResendRate` of the operator service. */
export const defaultResendRate = 500

/** The name of the list of a job in the addresses of the API and of the console. */
export const listOf = ({ kind }: Pick<AnyJob, 'kind'>): 'replays' | 'resends' =>
  kind === 'replay' ? 'replays' : 'resends'

/** The kind of a job as a title. */
export function titleOf(job: AnyJob): string {
  if (job.kind === 'resend') return 'Resend'
  return job.dryRun === true ? 'Dry run of a replay' : 'Replay'
}

export const isActive = ({ state }: Pick<AnyJob, 'state'>): boolean => state === 'waiting' || state === 'running'

/** How much of a job is done. `total` is absent while it is not known. */
export interface Done {
  readonly done: number
  readonly total?: number
}

export function doneOf(job: AnyJob): Done {
  const { total } = job.progress ?? {}
  const done = (job.kind === 'replay' ? job.progress?.seen : job.progress?.read) ?? 0
  return total === undefined ? { done } : { done, total: Math.max(total, done) }
}

/** The progress in words, for example `9 of 10 events read, 8 sent, 1 skipped`. */
export function progressText(job: AnyJob): string {
  const { progress } = job
  if (progress === undefined) return 'not begun'
  const { done, total } = doneOf(job)
  const noun = job.kind === 'replay' ? 'dead letter' : 'event'
  const part = total === undefined ? countWithNoun(done, noun) : `${countText(done)} of ${countWithNoun(total, noun)}`
  const results =
    'sent' in progress
      ? `${countText(progress.sent)} sent, ${countText(progress.skipped)} skipped`
      : replayResultText(job as Replay, progress)
  return `${part} read, ${results}`
}

function replayResultText(job: Replay, { replayed, refused }: NonNullable<Replay['progress']>): string {
  if (job.dryRun !== true) return `${countText(replayed)} replayed, ${countText(refused)} refused`
  const counted = countedBy(job)
  return `${countText(counted.replayable)} can be replayed, ${countText(counted.refused)} refused`
}

/** What a dry run has counted. It replays nothing, so its progress does not have these numbers. */
export function countedBy({ counts = [] }: Pick<Replay, 'counts'>) {
  const sum = (isRefused: boolean): number =>
    counts.reduce((all, { count, refusal }) => ((refusal !== undefined) === isRefused ? all + count : all), 0)
  return { replayable: sum(false), refused: sum(true) }
}

/** The jobs of both lists, newest first. */
export const newestFirst = (replays: readonly Replay[], resends: readonly Resend[]): readonly AnyJob[] =>
  [...replays, ...resends].sort((a, b) => (a.createdAt < b.createdAt ? 1 : -1))

/** The rate of a job in words. */
export function jobRateText({ kind, rate }: Pick<AnyJob, 'kind' | 'rate'>): string {
  if (rate !== undefined) return `${rateText(rate)} messages per second`
  return kind === 'resend' ? `${defaultResendRate} messages per second` : 'no limit'
}

/** Which records a resend could not read, because retention has removed them. */
export function missingText(missing: Resend['missing']): string {
  if (missing === undefined || missing.length === 0) return 'nothing'
  return missing.map(({ partition, firstOffset }) => `partition ${partition} before offset ${firstOffset}`).join(', ')
}
