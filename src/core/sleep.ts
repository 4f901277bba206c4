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

/** Resolves after the I/O callbacks of this event loop iteration, so that other work can run. */
export const nextIteration = (clock: Pick<Clock, 'soon'>): Promise<void> =>
  new Promise(resolve => void clock.soon(resolve))
