import { Fifo } from '../../core/collections/fifo.ts'
import { maxWorkPerCall } from '../../core/message/normalise-batch.ts'
import type { Clock } from '../../core/ports.ts'

/** Resolves when it is the caller's turn to work for some milliseconds. */
export type NextTimeSlice = () => Promise<void>

export interface TimeSlices {
  /** Each tick of the event loop has one turn, even if many callers wait. */
  readonly next: NextTimeSlice
  /**
   * Waits for less work than a turn, in characters of text. Returns `undefined` when the caller may
   * do it now: all short work of a tick together has at most the work of one turn.
   */
  short(work: number): Promise<void> | undefined
}

interface ShortWork {
  readonly work: number
  resolve(): void
}

/**
 * Splits the work of a tick of the event loop: long requests are handled in parts, between which
 * short requests are answered, and many short requests in several ticks
 * (docs/decisions/0043-hot-path-rules.md). Callers get their turns in the order of their calls.
 * Short work does not wait for turns.
 */
export function createTimeSlices(clock: Pick<Clock, 'soon'>): TimeSlices {
  const turns = new Fifo<() => void>()
  const waiting = new Fifo<ShortWork>()
  let isScheduled = false
  /** The short work of the current tick. */
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
