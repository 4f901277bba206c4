import type { Clock } from '../../core/ports.ts'
import { sleep } from '../../core/sleep-and-yield.ts'
import { durationMs } from '../../core/time.ts'
import type { OwnedJob } from './owned-job.ts'

/**
 * The result of the work on a job: `{}` after success, `error` after a failure. `undefined` when
 * the work was stopped.
 */
export type JobOutcome = { readonly error?: string | undefined } | undefined

/**
 * Time after a failed try of a job until the next try, in milliseconds. It doubles with each
 * further failure without progress, up to `max`.
 */
const waitMs = { first: 5_000, max: 60_000 }

interface Work {
  /**
   * Continues the job. Rejects with an error that has a `code` when Kafka, the schema registry or a
   * destination file cannot be read.
   */
  readonly run: () => Promise<JobOutcome>
  /**
   * Returns a number that grows when `run` makes progress, for example the number of replayed dead
   * letters.
   */
  readonly done: () => number
}

/**
 * Continues a job until it ends or must stop.
 *
 * While `run` rejects with an error that has a `code`, the job is tried again, however long the
 * outage is. If the job failed instead, an operator would have to create a new job, which begins
 * from the start. During the outage, the record of the job shows the error.
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
 * Whether an error has a cause outside this code. The errors of the schema registry's adapter, of
 * the Kafka adapter and of an unreadable destination file have a `code`. The errors of the Kafka
 * client have the field `retriable`.
 */
const isOutside = (error: unknown): error is Error =>
  error instanceof Error && ('code' in error || 'retriable' in error)
