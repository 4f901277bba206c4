import { flowLimits } from './limits.ts'

const { neverSlowMs, quickPart, callTimeWindowMs, lastCallWeight } = flowLimits.concurrency

/** Sums over the requests that ended in one time window (`callTimeWindowMs`). */
interface Sums {
  /** The sum of the durations of these requests, in milliseconds. */
  held: number
  /** The sum of the squares of these durations, for the mean in `typicalMs`. */
  squares: number
  /** Whether at least one of these requests was to a quick destination (not `CallTime.isSlow`). */
  hasQuick: boolean
}

const noSums = (): Sums => ({ held: 0, squares: 0, hasQuick: false })

/** How long one destination's requests hold permits (slots for concurrent requests) of a limit. */
export interface CallTime {
  /**
   * Moving mean of the durations of the destination's requests, in milliseconds; `undefined` until
   * the first request has ended.
   */
  meanMs: number | undefined
  /**
   * Whether the destination's requests take long compared with those of all destinations. Used only
   * if the limit has at least as many destinations as permits (`FairShare`).
   */
  isSlow: boolean
}

/** Measures how long requests hold the permits of a limit. Times are monotonic milliseconds. */
export class CallTimes {
  #window = 0
  #now = noSums()
  #before = noSums()

  ended(time: CallTime, tookMs: number, now: number): void {
    this.#moveTo(Math.floor(now / callTimeWindowMs))
    this.#now.held += tookMs
    this.#now.squares += tookMs * tookMs
    time.meanMs = time.meanMs === undefined ? tookMs : time.meanMs + (tookMs - time.meanMs) * lastCallWeight
    time.isSlow = time.meanMs > Math.max(neverSlowMs, quickPart * this.typicalMs)
    if (!time.isSlow) this.#now.hasQuick = true
  }

  get hasQuick(): boolean {
    return this.#now.hasQuick || this.#before.hasQuick
  }

  /**
   * The mean duration of the requests in the current and the previous window, each weighted with
   * its duration.
   */
  get typicalMs(): number {
    const held = this.#now.held + this.#before.held
    return held === 0 ? 0 : (this.#now.squares + this.#before.squares) / held
  }

  #moveTo(window: number): void {
    if (window === this.#window) return
    this.#before = window === this.#window + 1 ? this.#now : noSums()
    this.#now = noSums()
    this.#window = window
  }
}
