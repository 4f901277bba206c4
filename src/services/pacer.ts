import { RateLimiter } from '../core/flow/token-bucket-with-debt.ts'
import type { Clock } from '../core/ports.ts'
import { sleep } from '../core/sleep-and-yield.ts'
import { durationMs } from '../core/time.ts'

/** Maximum delay (ms) that a late caller can make up: its next calls then do not wait. */
const maxBurstMs = 100

export type Pacer = (count?: number) => Promise<void>

/**
 * Returns a function whose promises resolve `perSecond` times a second, evenly spaced. A call with
 * `count` counts as this number of calls.
 */
export function createPacer(clock: Clock, perSecond: number | undefined, stop?: AbortSignal): Pacer {
  if (perSecond === undefined) return async () => {}
  const limiter = new RateLimiter(maxBurstMs, clock.monotonic())
  return async (count = 1) => {
    const now = clock.monotonic()
    const wait = limiter.msToWait(now)
    limiter.spend(count, perSecond, now)
    if (wait > 0) await sleep(clock, durationMs(wait), stop)
  }
}

/**
 * Yields the numbers from 0 to `count - 1`, `perSecond` of them per second. After a delay, numbers
 * follow faster to keep the mean rate.
 */
export async function* paced(
  { count, perSecond }: { readonly count: number; readonly perSecond: number | undefined },
  clock: Clock,
  signal: AbortSignal,
): AsyncGenerator<number> {
  const limiter = new RateLimiter(Number.POSITIVE_INFINITY, clock.monotonic())
  for (let number = 0; number < count && !signal.aborted; number++) {
    const now = clock.monotonic()
    const wait = limiter.msToWait(now)
    if (perSecond !== undefined) limiter.spend(1, perSecond, now)
    if (wait > 0) await sleep(clock, durationMs(wait), signal)
    if (!signal.aborted) yield number
  }
}
