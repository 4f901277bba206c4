import type { Clock } from '../../core/ports.ts'
import { sleep } from '../../core/sleep-and-yield.ts'
import { durationMs } from '../../core/time.ts'
import type { OwnedJob } from './owned-job.ts'

/** `{}` after success, `error` after a failure, `undefined` when the work was stopped. */
export type JobOutcome = { readonly error?: string | undefined } | undefined

/** Time in ms until the next try. It doubles with each failure without progress, up to `max`. */
const waitMs = { first: 5_000, max: 60_000 }

interface Work {
  /**
   * Continues the job. Rejects with an error that has a `code` during an outage, for example of
   * Kafka.
   */
  readonly run: () => Promise<JobOutcome>
  /** Returns a number that grows when `run` makes progress. */
  readonly progress: () => number
}

/**
 * Continues a job until it ends or must stop. Tries again after every outage. If an outage ended
 * the job as failed, the work would have to begin again from the start.
 * @throws every error that no outage has caused, because it is a bug
 */
export async function tryUntilDone({ run, progress }: Work, owned: OwnedJob, clock: Clock): Promise<JobOutcome> {
  let wait = waitMs.first
  for (;;) {
    const before = progress()
    try {
      return await run()
    } catch (error) {
      if (owned.signal.aborted) return undefined
      if (!isOutside(error)) throw error
      if (progress() > before) wait = waitMs.first
      owned.advance({ error: error.message })
    }
    await sleep(clock, durationMs(wait), owned.signal)
    if (owned.signal.aborted) return undefined
    wait = Math.min(wait * 2, waitMs.max)
  }
}

/**
 * Whether an error has an outside cause. Errors of adapters have `code`, errors of the Kafka client
 * have `retriable`.
 */
const isOutside = (error: unknown): error is Error =>
  error instanceof Error && ('code' in error || 'retriable' in error)
