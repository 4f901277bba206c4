import { Fifo } from '../../core/collections/fifo.ts'
import type { Clock } from '../../core/ports.ts'

/** Resolves when it is the caller's turn to work for some milliseconds. */
export type NextTimeSlice = () => Promise<void>

/**
 * Splits long work, so that short requests are answered between its parts
 * (docs/decisions/0043-hot-path-rules.md). Callers get their turns in the order of their calls.
 * Each tick of the event loop has one turn, even if many callers wait.
 */
export function createTimeSlices(clock: Pick<Clock, 'soon'>): NextTimeSlice {
  const waiting = new Fifo<() => void>()
  let isScheduled = false

  function schedule(): void {
    if (isScheduled || waiting.length === 0) return
    isScheduled = true
    clock.soon(() => {
      isScheduled = false
      waiting.shift()?.()
      schedule()
    })
  }

  return () =>
    new Promise(resolve => {
      waiting.push(resolve)
      schedule()
    })
}
