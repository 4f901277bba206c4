import { Fifo } from '../../core/collections/fifo.ts'
import type { Clock } from '../../core/ports.ts'

/** Resolves when the caller may do some milliseconds of work. */
export type NextTimeSlice = () => Promise<void>

/**
 * Splits long work, so that short requests are answered between its parts
 * (docs/decisions/0043-hot-path-rules.md). Callers get their turns in the order in which they
 * asked, one per tick of the event loop, however many callers there are.
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
