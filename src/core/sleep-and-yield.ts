import type { Clock } from './ports.ts'
import type { DurationMs } from './time.ts'

/** Resolves after a duration, or when `stop` is aborted. */
export function sleep(clock: Pick<Clock, 'after'>, duration: DurationMs, stop?: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    const cancel = clock.after(duration, end)
    function end(): void {
      cancel()
      stop?.removeEventListener('abort', end)
      resolve()
    }
    if (stop?.aborted) end()
    else stop?.addEventListener('abort', end)
  })
}

/** Resolves after the I/O callbacks of this event loop iteration. */
export const nextIteration = (clock: Pick<Clock, 'soon'>): Promise<void> =>
  new Promise(resolve => void clock.soon(resolve))

/** Maximum time, in ms, for which a loop with `createYield` blocks other work. */
const maxBlockMs = 10

/**
 * Returns a function that a loop calls for each record. After every 10 ms of work, this function
 * returns a promise that the loop must await; otherwise it returns `undefined`.
 */
export function createYield(clock: Pick<Clock, 'soon' | 'monotonic'>): () => Promise<void> | undefined {
  let endsAt = clock.monotonic() + maxBlockMs
  return () => {
    if (clock.monotonic() < endsAt) return undefined
    return nextIteration(clock).then(() => {
      endsAt = clock.monotonic() + maxBlockMs
    })
  }
}
