import type { Clock } from '../../core/ports.ts'
import { sleep } from '../../core/sleep-and-yield.ts'
import { durationMs } from '../../core/time.ts'
import type { OwnedJob } from './owned-job.ts'

/** `{}` after success, `error` after a failure, `undefined` when the work was stopped. */
export type JobOutcome = { readonly error?: string | undefined } | undefined

/**
 * Time until the next try after a failed one, in ms. It doubles with each failure without progress,
 * up to `max`.
 */
const waitMs = { first: 5_000, max: 60_000 }

interface Work {
  /**
   * Continues the job. Rejects with an error that has a `code` during an outage, for example of
   * Kafka.
   */
  readonly run: () => Promise<JobOutcome>
  /** Returns a number that grows when `run` makes progress. */
  readonly done: () => number
}

/**
 * Continues a job until it ends or must stop. A try that rejects with an error with a `code` is
 * repeated without limit, because a failed job would have to begin from the start. The job's record
 * shows the error.
 * @throws every other error: it is a bug
 */
export async function tryUntilDone({ run, done }: Work, owned: OwnedJob, clock: Clock): Promise<JobOutcome> {
  let wait = waitMs.first
  for (;;) {
    const before = done()
    try {
      return await run()
    } catch (error) {
      if (owned.signal.aborted) return undefined
      if (!isOutside(error)) throw error
      if (done() > before) wait = waitMs.first
      owned.advance({ error: error.message })
    }
    await sleep(clock, durationMs(wait), owned.signal)
    if (owned.signal.aborted) return undefined
    wait = Math.min(wait * 2, waitMs.max)
  }
}

/**
 * Whether an error has a cause outside this code. Errors of adapters have a `code`. Errors of the
 * Kafka client have the field `retriable`.
 */
const isOutside = (error: unknown): error is Error =>
  error instanceof Error && ('code' in error || 'retriable' in error)
