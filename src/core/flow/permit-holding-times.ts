import { flowLimits } from './flow-control-constants.ts'

const { neverSlowMs, slowAbovePart, callTimeWindowMs, lastCallWeight } = flowLimits.concurrency

/** Sums over the requests that ended in one time window (`callTimeWindowMs`). */
interface Sums {
  /** The sum of the durations of these requests, in milliseconds. */
  durationSumMs: number
  /** The sum of the squares of these durations, for the mean in `durationWeightedMeanMs`. */
  durationSquareSum: number
  /** Whether at least one of these requests was to a quick destination (not `CallTime.isSlow`). */
  hasQuick: boolean
}

const noSums = (): Sums => ({ durationSumMs: 0, durationSquareSum: 0, hasQuick: false })

/** How long one destination's requests hold permits (slots for concurrent requests) of a limit. */
export interface CallTime {
  /**
   * Moving mean of the durations of the destination's requests, in milliseconds; `undefined` until
   * the first request has ended.
   */
  meanMs: number | undefined
  /**
   * Whether the destination's requests take long compared with those of all destinations. Used only
   * while the limit is crowded: the number of destinations with requests is then at least the
   * number of permits (see `FairShare`).
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
    this.#now.durationSumMs += tookMs
    this.#now.durationSquareSum += tookMs * tookMs
    time.meanMs = time.meanMs === undefined ? tookMs : time.meanMs + (tookMs - time.meanMs) * lastCallWeight
    time.isSlow = time.meanMs > Math.max(neverSlowMs, slowAbovePart * this.durationWeightedMeanMs)
    if (!time.isSlow) this.#now.hasQuick = true
  }

  get hasQuick(): boolean {
    return this.#now.hasQuick || this.#before.hasQuick
  }

  /**
   * The mean duration of the requests in the current and the previous window. The weight of each
   * request is its duration, because long requests hold permits longer.
   */
  get durationWeightedMeanMs(): number {
    const durationSumMs = this.#now.durationSumMs + this.#before.durationSumMs
    return durationSumMs === 0 ? 0 : (this.#now.durationSquareSum + this.#before.durationSquareSum) / durationSumMs
  }

  #moveTo(window: number): void {
    if (window === this.#window) return
    this.#before = window === this.#window + 1 ? this.#now : noSums()
    this.#now = noSums()
    this.#window = window
  }
}
