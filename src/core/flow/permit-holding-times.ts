import { flowLimits } from './flow-control-constants.ts'

const { neverSlowMs, slowAbovePart, callTimeWindowMs, lastCallWeight } = flowLimits.concurrency

/** Sums over the requests that ended in one time window (`callTimeWindowMs`). */
interface Sums {
  /** The sum of the durations of the window's requests, in milliseconds. */
  durationSumMs: number
  /** The sum of the squares of the requests' durations, for `durationWeightedMeanMs`. */
  durationSquareSum: number
  /** Whether at least one request was to a quick destination (not `PermitHoldingTime.isSlow`). */
  hasQuick: boolean
}

const noSums = (): Sums => ({ durationSumMs: 0, durationSquareSum: 0, hasQuick: false })

/** How long one destination's requests hold permits (slots for concurrent requests) of a limit. */
export interface PermitHoldingTime {
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
export class PermitHoldingTimes {
  #window = 0
  #currentSums = noSums()
  #previousSums = noSums()

  ended(time: PermitHoldingTime, tookMs: number, now: number): void {
    this.#moveTo(Math.floor(now / callTimeWindowMs))
    this.#currentSums.durationSumMs += tookMs
    this.#currentSums.durationSquareSum += tookMs * tookMs
    time.meanMs = time.meanMs === undefined ? tookMs : time.meanMs + (tookMs - time.meanMs) * lastCallWeight
    time.isSlow = time.meanMs > Math.max(neverSlowMs, slowAbovePart * this.durationWeightedMeanMs)
    if (!time.isSlow) this.#currentSums.hasQuick = true
  }

  get hasQuick(): boolean {
    return this.#currentSums.hasQuick || this.#previousSums.hasQuick
  }

  /**
   * The mean duration of the requests in the current and the previous window. The weight of each
   * request is its duration, because long requests hold permits longer.
   */
  get durationWeightedMeanMs(): number {
    const durationSumMs = this.#currentSums.durationSumMs + this.#previousSums.durationSumMs
    return durationSumMs === 0
      ? 0
      : (this.#currentSums.durationSquareSum + this.#previousSums.durationSquareSum) / durationSumMs
  }

  #moveTo(window: number): void {
    if (window === this.#window) return
    this.#previousSums = window === this.#window + 1 ? this.#currentSums : noSums()
    this.#currentSums = noSums()
    this.#window = window
  }
}
