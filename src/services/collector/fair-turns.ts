import { Fifo } from '../../core/collections/fifo.ts'
import { maxWorkPerCall } from '../../core/message/normalise-batch.ts'
import type { Clock } from '../../core/ports.ts'

/** Resolves when it is the caller's turn to work for some milliseconds. */
export type NextTimeSlice = () => Promise<void>

export interface TimeSlices {
  /** Resolves when it is the caller's turn. Each tick of the event loop has only one turn. */
  readonly next: NextTimeSlice
  /**
   * Asks for short work. `work` is in characters of text, and at most the work of one turn
   * (`maxWorkPerCall`). Returns `undefined` when the caller may begin immediately. Otherwise
   * returns a promise that resolves in a later tick. All short work of one tick together is at most
   * the work of one turn.
   */
  short(work: number): Promise<void> | undefined
}

interface ShortWork {
  readonly work: number
  resolve(): void
}

/**
 * Divides work among ticks of the event loop, so that no tick takes long
 * (docs/decisions/0043-hot-path-rules.md). Each part of a long request needs a turn, and turns are
 * given in the order of the calls. Short requests do not wait for turns. If there are many, they
 * are handled in several ticks.
 */
export function createTimeSlices(clock: Pick<Clock, 'soon'>): TimeSlices {
  const turns = new Fifo<() => void>()
  const waiting = new Fifo<ShortWork>()
  let isScheduled = false
  /** The short work of the current tick, in characters of text. */
  let used = 0

  const fits = (work: number): boolean => used + work <= maxWorkPerCall

  function schedule(): void {
    if (isScheduled) return
    isScheduled = true
    clock.soon(() => {
      isScheduled = false
      used = 0
      turns.shift()?.()
      for (let first = waiting.peek(); first !== undefined && fits(first.work); first = waiting.peek()) {
        waiting.shift()
        used += first.work
        first.resolve()
      }
      if (turns.length > 0 || used > 0) schedule()
    })
  }

  return {
    next: () =>
      new Promise(resolve => {
        turns.push(resolve)
        schedule()
      }),
    short(work) {
      schedule()
      if (waiting.length > 0 || !fits(work)) return new Promise(resolve => waiting.push({ work, resolve }))
      used += work
      return undefined
    },
  }
}
