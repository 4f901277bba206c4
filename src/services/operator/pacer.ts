import type { Clock } from '../../core/ports.ts'
import { type DurationMs, durationMs } from '../../core/units.ts'

/** How much lost time is made up for: timers are late by milliseconds, and no burst may follow a long halt. */
const maxMakeUpMs = 100

/**
 * Spaces work evenly: resolves `perSecond` times a second, immediately when that is undefined, and when `stop` is
 * aborted.
 */
export function createPacer(clock: Clock, perSecond: number | undefined, stop: AbortSignal): () => Promise<void> {
  if (perSecond === undefined) return async () => {}
  let next = clock.monotonic()
  return async () => {
    const now = clock.monotonic()
    const turn = Math.max(next, now - maxMakeUpMs)
    next = turn + 1_000 / perSecond
    if (turn > now) await waited(clock, durationMs(turn - now), stop)
  }
}

/** Resolves after `delay`, or when `stop` is aborted. */
export function waited(clock: Clock, delay: DurationMs, stop: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    const cancel = clock.after(delay, end)
    function end(): void {
      cancel()
      stop.removeEventListener('abort', end)
      resolve()
    }
    if (stop.aborted) end()
    else stop.addEventListener('abort', end)
  })
}
