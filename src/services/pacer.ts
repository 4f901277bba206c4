import { RateLimiter } from '../core/flow/rate-limiter.ts'
import { pause } from '../core/pause.ts'
import type { Clock } from '../core/ports.ts'
import { durationMs } from '../core/units.ts'

/** Lost time that is made up for: timers are late by milliseconds, and no burst may follow a long halt. */
const maxBurstMs = 100

/**
 * Spaces work evenly: resolves `perSecond` times a second, immediately when that is undefined, and when `stop` is
 * aborted.
 */
export function createPacer(clock: Clock, perSecond: number | undefined, stop: AbortSignal): () => Promise<void> {
  if (perSecond === undefined) return async () => {}
  const limiter = new RateLimiter(maxBurstMs, clock.monotonic())
  return async () => {
    const now = clock.monotonic()
    const wait = limiter.msToWait(now)
    limiter.spend(1, perSecond, now)
    if (wait > 0) await pause(clock, durationMs(wait), stop)
  }
}

/**
 * Counts from 0, each number when it is due: `perSecond` evenly from the start on, with all lost time made up for, or immediately
 * when undefined. Ends after `count` numbers, or when `signal` is aborted.
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
    if (wait > 0) await pause(clock, durationMs(wait), signal)
    if (!signal.aborted) yield number
  }
}
