import type { Clock } from '../../core/ports.ts'
import type { DurationMs } from '../../core/time.ts'

/**
 * Calls `read` after all earlier reads of the queue have ended. If an earlier call with the same
 * name still waits for its read, shares the result of that call instead. `until` is the time limit
 * of the answer, in monotonic milliseconds. `read` must end by this time. If too little time is
 * left for a read, `read` must return immediately.
 */
export type ReadInTurn = <T>(name: string, read: (until: number) => Promise<T>) => Promise<T>

/**
 * Creates a queue that reads for one request at a time. The time limit of a request begins when the
 * request arrives, so it includes the wait for earlier requests. An earlier request has an earlier
 * time limit. If each `read` ends by its `until`, `read` is therefore called before the time limit
 * of its own request.
 */
export function createReadQueue(clock: Pick<Clock, 'monotonic'>, time: DurationMs): ReadInTurn {
  const waiting = new Map<string, Promise<unknown>>()
  let last: Promise<unknown> = Promise.resolve()

  return <T>(name: string, read: (until: number) => Promise<T>): Promise<T> => {
    const shared = waiting.get(name) as Promise<T> | undefined
    if (shared !== undefined) return shared
    const until = clock.monotonic() + time
    const result = last.then(() => {
      // From now on, calls with this name need a new read, because this one may miss records that
      // are written while it reads.
      waiting.delete(name)
      return read(until)
    })
    waiting.set(name, result)
    last = result.catch(() => undefined)
    return result
  }
}
