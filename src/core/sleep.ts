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
