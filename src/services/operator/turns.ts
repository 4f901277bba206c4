import type { Clock } from '../../core/ports.ts'
import { type DurationMs, durationMs } from '../../core/units.ts'

/** Time lost is made up for only as far as this: timers are late by milliseconds, but after a halt no flood may follow. */
const longestMakeUpMs = 100

/** Resolves when the next turn has come: `perSecond` of them, evenly; always at once when undefined. Also when `stop` is aborted. */
export function createTurns(clock: Clock, perSecond: number | undefined, stop: AbortSignal): () => Promise<void> {
  if (perSecond === undefined) return async () => {}
  let next = clock.monotonic()
  return async () => {
    const now = clock.monotonic()
    const turn = Math.max(next, now - longestMakeUpMs)
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
