import type { Cancel } from './clock.ts'

interface Flush {
  /** The flush ends when all messages up to this sequence number are sent or failed. */
  upTo: number
  /**
   * Whether `upTo` may still be raised. This happens once, to include messages queued during the
   * flush.
   */
  mayExtend: boolean
  readonly resolve: () => void
}

/** The callers that wait for a flush or for room in the queue. They keep the process alive. */
export class WaitingCallers {
  readonly #hold: () => Cancel
  #flushes: Flush[] = []
  #forRoom: (() => void)[] = []
  #release: Cancel | undefined

  constructor(hold: () => Cancel) {
    this.#hold = hold
  }

  /**
   * Resolves when all messages up to the sequence number `upTo` are sent or failed. Messages that
   * are queued during this wait extend it once.
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
   * Resolves the waits that are over. Returns the sequence number up to which messages must be sent
   * now (0: none). `oldest` is the number of the first message without a result.
   */
  progress(oldest: number, lastSequenceNumber: number, hasRoom: boolean): number {
    if (hasRoom) for (const resolve of this.#forRoom.splice(0)) resolve()
    this.#flushes = this.#flushes.filter(flush => !resolveIfOver(flush, oldest, lastSequenceNumber))
    if (this.#flushes.length === 0 && this.#forRoom.length === 0) {
      this.#release?.()
      this.#release = undefined
    }
    return this.#flushes.reduce((furthest, flush) => Math.max(furthest, flush.upTo), 0)
  }
}

/**
 * Whether a flush is done; if so, resolves its promise. `upTo` is raised only once: otherwise, a
 * flush would never end in a program that queues messages all the time.
 */
function resolveIfOver(flush: Flush, oldest: number, lastSequenceNumber: number): boolean {
  if (flush.upTo >= oldest) return false
  if (flush.mayExtend && lastSequenceNumber >= oldest) {
    flush.upTo = lastSequenceNumber
    flush.mayExtend = false
    return false
  }
  flush.resolve()
  return true
}
