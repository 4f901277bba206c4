import type { Clock } from '../../core/ports.ts'
import { durationMs } from '../../core/units.ts'

/**
 * Counts from 0, each number when it is due: `perSecond` evenly from the start on, or at once when undefined. Ends after
 * `count` numbers, or when `signal` is aborted.
 */
export async function* paced(
  { count, perSecond }: { count: number; perSecond: number | undefined },
  clock: Clock,
  signal: AbortSignal,
): AsyncGenerator<number> {
  const start = clock.monotonic()
  for (let number = 0; number < count && !signal.aborted; number++) {
    const due = perSecond === undefined ? 0 : start + (number * 1_000) / perSecond
    const wait = due - clock.monotonic()
    if (wait > 0) await waited(wait, clock, signal)
    if (!signal.aborted) yield number
  }
}

async function waited(delay: number, clock: Clock, signal: AbortSignal): Promise<void> {
  await new Promise<void>(resolve => {
    const cancel = clock.after(durationMs(delay), done)
    function done(): void {
      cancel()
      signal.removeEventListener('abort', done)
      resolve()
    }
    signal.addEventListener('abort', done)
  })
}
