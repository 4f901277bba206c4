import type { Clock } from '../../core/ports.ts'
import type { DurationMs } from '../../core/time.ts'

/**
 * Calls `read` after all earlier reads of the queue have ended. Calls with the same name share the
 * result if they come before `read` is called. `until` is the time limit of the answer, in
 * monotonic milliseconds: `read` must end by then, even if its turn comes too late.
 */
export type ReadInTurn = <T>(name: string, read: (until: number) => Promise<T>) => Promise<T>

/**
 * Creates a queue that reads for one request at a time. The time of an answer counts from its
 * request, so it includes the wait for earlier requests. Their time limits are earlier, so each
 * turn comes in time.
 */
export function createReadQueue(clock: Pick<Clock, 'monotonic'>, time: DurationMs): ReadInTurn {
  const waiting = new Map<string, Promise<unknown>>()
  let last: Promise<unknown> = Promise.resolve()

  return <T>(name: string, read: (until: number) => Promise<T>): Promise<T> => {
    const shared = waiting.get(name) as Promise<T> | undefined
    if (shared !== undefined) return shared
    const until = clock.monotonic() + time
    const result = last.then(() => {
      // A later call needs a new read, because this one may miss records that are written while it
      // reads.
      waiting.delete(name)
      return read(until)
    })
    waiting.set(name, result)
    last = result.catch(() => undefined)
    return result
  }
}
