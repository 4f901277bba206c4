import type { Clock } from '../../core/ports.ts'
import type { DurationMs } from '../../core/time.ts'

/**
 * Calls `read` after earlier reads have ended. If a call with the same name already waits, shares
 * the result of that call instead. `read` must end by `until` (monotonic ms).
 */
export type ReadInTurn = <T>(name: string, read: (until: number) => Promise<T>) => Promise<T>

/**
 * Creates a queue that runs one read at a time. `time`: time limit of a read, including its wait
 * for earlier reads.
 */
export function createReadQueue(clock: Pick<Clock, 'monotonic'>, time: DurationMs): ReadInTurn {
  const waiting = new Map<string, Promise<unknown>>()
  let last: Promise<unknown> = Promise.resolve()

  return <T>(name: string, read: (until: number) => Promise<T>): Promise<T> => {
    const shared = waiting.get(name) as Promise<T> | undefined
    if (shared !== undefined) return shared
    const until = clock.monotonic() + time
    const result = last.then(() => {
      // Later calls need a new read, because this one may miss new records.
      waiting.delete(name)
      return read(until)
    })
    waiting.set(name, result)
    last = result.catch(() => undefined)
    return result
  }
}
