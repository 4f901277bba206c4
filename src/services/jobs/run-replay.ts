import { longestText } from '../../core/delivery/delivery-state.ts'
import { noDestination } from '../../core/delivery/parse-dead-letter.ts'
import type { ReplayContext, ReplayRefusal } from '../../core/delivery/replay-decision.ts'
import { type CountRow, maxCountRows, type ReplayJob } from '../../core/jobs/job.ts'
import type { TopicReader } from '../../core/ports.ts'
import { sleep } from '../../core/sleep-and-yield.ts'
import { type ReplayRow, replayDeadLetters } from '../operator/replay-dead-letters.ts'
import type { ReplayTargetDeps } from '../operator/replay-plan-of-dead-letter.ts'
import { checkAgainAfter, maxConfigurationWait } from './configuration-wait-limits.ts'
import type { OwnedJob } from './owned-job.ts'
import { type JobOutcome, tryUntilDone } from './try-until-done.ts'

/** The refusals that a change of the configuration can remove. */
const removable: ReadonlySet<ReplayRefusal> = new Set(['unknown_destination', 'disabled', 'not_connected'])

export interface RunReplayDeps extends Omit<ReplayTargetDeps, 'context'> {
  readonly reader: TopicReader
  /** Returns the current configuration, which may change while the job runs. */
  readonly context: () => Omit<ReplayContext, 'evenDisconnected'>
}

/**
 * Replays the dead letters that existed at the job's creation. A repeated run starts from the
 * beginning, and skips replayed dead letters, which have a tombstone.
 */
export async function runReplay(deps: RunReplayDeps, job: ReplayJob, owned: OwnedJob): Promise<JobOutcome> {
  const { filters, rate, isDryRun, ends } = job
  const context = contextOf(deps, job)
  let { seen, replayed } = job.progress
  let failedAt = seen
  const { clock } = deps
  const waitsUntil = clock.monotonic() + maxConfigurationWait

  async function shouldCheckAgain(refusal: ReplayRefusal): Promise<boolean> {
    if (!removable.has(refusal) || clock.monotonic() >= waitsUntil) return false
    await sleep(clock, checkAgainAfter, owned.signal)
    return true
  }

  async function run(): Promise<JobOutcome> {
    const before = replayed
    let total = before
    const report = await replayDeadLetters(
      { ...deps, producer: owned.producer, context },
      {
        ...{ filter: filters, perSecond: rate, dryRun: isDryRun, ends, signal: owned.signal, shouldCheckAgain },
        begin(found) {
          total = before + found
          return true
        },
        onProgress(progress) {
          const { replayable, refused } = progress
          replayed = before + progress.replayed
          seen = before + progress.seen
          owned.advance({
            progress: {
              ...{ seen, total: Math.max(total, seen), replayed, refused },
              ...(isDryRun === true && { replayable }),
            },
            // The error of a failed try stays in the job's record until the next try has seen more
            // dead letters than the failed one.
            ...(seen > failedAt && { error: undefined }),
          })
        },
      },
    )
    owned.advance({ counts: countsOf(report.rows, isDryRun === true) })
    if (report.end.kind === 'done') return {}
    if (report.end.kind !== 'failed') return undefined
    failedAt = seen
    throw report.end.error
  }

  return tryUntilDone({ run, progress: () => replayed }, owned, clock)
}

const contextOf = ({ context }: RunReplayDeps, { evenDisconnected }: ReplayJob): ReplayContext => ({
  ...context(),
  get routing() {
    return context().routing
  },
  evenDisconnected: evenDisconnected === true,
})

/**
 * Returns the `counts` of the job's record: the rows with the highest counts, to limit the size of
 * the record. Except in a dry run, only dead letters that cannot be replayed are counted.
 */
const countsOf = (rows: readonly ReplayRow[], isDryRun: boolean): CountRow[] =>
  rows
    .filter(({ target }) => isDryRun || 'refusal' in target)
    .toSorted((a, b) => b.count - a.count)
    .slice(0, maxCountRows)
    .map(({ destination = noDestination, reason, count, target }) => ({
      destination: destination.slice(0, longestText),
      reason: reason.slice(0, longestText),
      ...{ count, ...target },
    }))
