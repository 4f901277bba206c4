import { Fifo } from '../../core/collections/fifo.ts'
import type { Clock } from '../../core/ports.ts'

/** Resolves when it is the caller's turn to do some milliseconds of work. */
export type NextTurn = () => Promise<void>

/**
 * Long work gives way (decisions 30 and 43): callers get their turns in the order in which they asked, one in each turn of the
 * event loop, however many long requests there are. Between two of them short requests are answered.
 */
export function createTurns(clock: Pick<Clock, 'soon'>): NextTurn {
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
