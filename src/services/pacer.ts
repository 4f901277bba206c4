import { RateLimiter } from '../core/flow/rate-limiter.ts'
import type { Clock } from '../core/ports.ts'
import { sleep } from '../core/sleep-and-yield.ts'
import { durationMs } from '../core/time.ts'

/**
 * Maximum delay, in ms, for which the pacer compensates: late promises are followed by promises
 * without a wait. A longer delay is not fully compensated, so that no large burst follows.
 */
const maxBurstMs = 100

export type Pacer = (count?: number) => Promise<void>

/**
 * Returns a function that limits the rate of its callers: its promises resolve `perSecond` times a
 * second, evenly spaced, or immediately when `perSecond` is `undefined` or `stop` is aborted. A
 * call with `count` counts as this number of calls, and delays the next one.
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
 * Yields the numbers from 0 to `count - 1`, `perSecond` of them per second, or all without a wait.
 * After a delay, numbers follow faster until the mean rate is reached. Ends early when `signal` is
 * aborted.
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
