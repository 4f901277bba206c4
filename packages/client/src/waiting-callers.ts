import type { Cancel } from './clock.ts'

interface Flush {
  upTo: number
  /**
   * Whether `upTo` may still be raised once, to include the messages that were queued while the
   * flush was in progress.
   */
  mayExtend: boolean
  readonly resolve: () => void
}

/**
 * The callers that wait for a flush or for room in the queue. While a caller waits, the process
 * stays alive, even during the delay before a retry.
 */
export class WaitingCallers {
  readonly #hold: () => Cancel
  #flushes: Flush[] = []
  #forRoom: (() => void)[] = []
  #release: Cancel | undefined

  constructor(hold: () => Cancel) {
    this.#hold = hold
  }

  /**
   * Returns the promise of a flush. The promise waits until all messages up to the sequence number
   * `upTo` are sent or failed, and then for the messages that were queued during this wait. Later
   * messages do not delay the promise.
   */
  flush(upTo: number): Promise<void> {
    return this.#wait(resolve => this.#flushes.push({ upTo, mayExtend: true, resolve }))
  }

  /** Resolves when the queue has room for a message again. */
  room(): Promise<void> {
    return this.#wait(resolve => this.#forRoom.push(resolve))
  }

  #wait(enlist: (resolve: () => void) => void): Promise<void> {
    this.#release ??= this.#hold()
    return new Promise(enlist)
  }

  /**
   * Resolves the promises of the callers whose condition is met. `oldest` is the sequence number of
   * the first message that is neither sent nor failed. Returns the sequence number up to which
   * messages must be sent now, or 0 if no flush waits.
   */
  progress(oldest: number, lastPlace: number, hasRoom: boolean): number {
    if (hasRoom) for (const resolve of this.#forRoom.splice(0)) resolve()
    this.#flushes = this.#flushes.filter(flush => !isOver(flush, oldest, lastPlace))
    if (this.#flushes.length === 0 && this.#forRoom.length === 0) {
      this.#release?.()
      this.#release = undefined
    }
    return this.#flushes.reduce((furthest, flush) => Math.max(furthest, flush.upTo), 0)
  }
}

/**
 * Returns whether a flush is done and, if it is, resolves its promise. When all messages up to
 * `upTo` have a result, `upTo` is raised once, to the newest message at that time. It is raised
 * only once, because otherwise a flush would never end in a program that queues messages all the
 * time.
 */
function isOver(flush: Flush, oldest: number, lastPlace: number): boolean {
  if (flush.upTo >= oldest) return false
  if (flush.mayExtend && lastPlace >= oldest) {
    flush.upTo = lastPlace
    flush.mayExtend = false
    return false
  }
  flush.resolve()
  return true
}
