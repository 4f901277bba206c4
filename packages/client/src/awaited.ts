import type { Cancel } from './clock.ts'

interface Flush {
  upTo: number
  /** Whether what was queued since the call is still to be covered too. */
  again: boolean
  readonly resolve: () => void
}

/** Who waits for an end. While somebody does, the process stays alive, also in pauses between retries. */
export class Awaited {
  readonly #hold: () => Cancel
  #flushes: Flush[] = []
  #forRoom: (() => void)[] = []
  #release: Cancel | undefined

  constructor(hold: () => Cancel) {
    this.#hold = hold
  }

  /** Resolves when everything up to this place is settled, and so is what was queued while that was being sent. */
  flush(upTo: number): Promise<void> {
    return this.#wait(resolve => this.#flushes.push({ upTo, again: true, resolve }))
  }

  room(): Promise<void> {
    return this.#wait(resolve => this.#forRoom.push(resolve))
  }

  #wait(enlist: (resolve: () => void) => void): Promise<void> {
    this.#release ??= this.#hold()
    return new Promise(enlist)
  }

  /** `oldest` is the first place that is not settled. Hands back the place up to which all must be sent now, if somebody waits. */
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

/** A second round and no third: a client that is never idle must not keep a flush waiting for ever. */
function isOver(flush: Flush, oldest: number, lastPlace: number): boolean {
  if (flush.upTo >= oldest) return false
  if (flush.again && lastPlace >= oldest) {
    flush.upTo = lastPlace
    flush.again = false
    return false
  }
  flush.resolve()
  return true
}
