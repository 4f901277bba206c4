import { noDestination } from '../../core/delivery/parse-dead-letter.ts'
import type { ReplayContext } from '../../core/delivery/replay-decision.ts'
import { type CountRow, maxCountRows, type ReplayJob } from '../../core/jobs/job.ts'
import type { TopicReader } from '../../core/ports.ts'
import { sleep } from '../../core/sleep.ts'
import { durationMs } from '../../core/time.ts'
import { type ReplayRow, replayDeadLetters } from '../operator/replay-dead-letters.ts'
import type { ReplayTargetDeps } from '../operator/replay-plan.ts'
import type { OwnedJob } from './owned-job.ts'

export interface RunReplayDeps extends Omit<ReplayTargetDeps, 'context'> {
  readonly reader: TopicReader
  /**
   * Returns the current configuration. It is called for each decision, because the configuration
   * may change while the job runs.
   */
  readonly context: () => Omit<ReplayContext, 'evenDisconnected'>
}

/**
 * The result of the work on a job: `{}` after success, `error` after a failure. `undefined` when
 * the work was stopped.
 */
export type JobOutcome = { readonly error?: string | undefined } | undefined

/** Number of tries without progress after which a job fails. */
export const maxTries = 10
/** The wait after a try that failed, before the next one. */
export const tryAgainAfter = durationMs(5_000)

/**
 * Replays the dead letters that a job selects, if they existed when the job was created. A process
 * that continues a job reads the topic from its beginning again. It skips the dead letters that
 * were replayed, because each of them has a tombstone.
 */
export async function runReplay(deps: RunReplayDeps, job: ReplayJob, owned: OwnedJob): Promise<JobOutcome> {
  const { filters, rate, isDryRun, ends } = job
  const context = contextOf(deps, job)
  let replayed = job.progress.replayed
  for (let tries = 1; ; tries++) {
    const before = replayed
    let total = before
    const report = await replayDeadLetters(
      { ...deps, producer: owned.producer, context },
      {
        ...{ filter: filters, perSecond: rate, dryRun: isDryRun, ends, signal: owned.signal },
        begin(found) {
          total = before + found
          return true
        },
        onProgress(progress) {
          replayed = before + progress.replayed
          const seen = before + progress.seen
          owned.advance({ progress: { seen, total: Math.max(total, seen), replayed, refused: progress.refused } })
        },
      },
    )
    owned.advance({ counts: countsOf(report.rows, isDryRun === true) })
    if (report.end.kind === 'done') return {}
    if (owned.signal.aborted || report.end.kind !== 'failed') return undefined
    if (replayed > before) tries = 0
    if (tries >= maxTries) return { error: (report.end.error as Error).message }
    await sleep(deps.clock, tryAgainAfter, owned.signal)
    if (owned.signal.aborted) return undefined
  }
}

const contextOf = ({ context }: RunReplayDeps, { evenDisconnected }: ReplayJob): ReplayContext => ({
  ...context(),
  get routing() {
    return context().routing
  },
  evenDisconnected: evenDisconnected === true,
})

/**
 * Returns the counts of dead letters that the record of the job contains, largest first. A dry run
 * counts all selected dead letters. Otherwise only those that cannot be replayed are counted.
 */
const countsOf = (rows: readonly ReplayRow[], isDryRun: boolean): CountRow[] =>
  rows
    .filter(({ way }) => isDryRun || 'refusal' in way)
    .toSorted((a, b) => b.count - a.count)
    .slice(0, maxCountRows)
    .map(({ destination = noDestination, reason, count, way }) => ({ destination, reason, count, ...way }))
