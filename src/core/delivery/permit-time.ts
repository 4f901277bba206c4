/** A destination whose calls take no longer is never slow: each of its permits is free again ten times a second. */
const neverSlowMs = 100
/** A permit that is held for an eighth of what permits are typically held for there is passed on quickly. */
const quickPart = 1 / 8
/** The times of this window and of the one before it count. */
const windowMs = 60_000
/** Of the mean of one destination's calls the last one is so much. */
const lastCallPart = 1 / 4

/** Of the calls that ended in one window. */
interface Sums {
  /** Milliseconds that permits were held. */
  held: number
  /** The same, each multiplied with itself. */
  squares: number
  /** Whether a call of a quick destination has ended. */
  hasQuick: boolean
}

const noSums = (): Sums => ({ held: 0, squares: 0, hasQuick: false })

/** How long the calls take for which one destination holds permits of a limit. */
export interface CallTime {
  /** Undefined before the first call has ended. */
  meanMs: number | undefined
  /** Its calls take long beside those of the others: they leave the last permit to quick ones. */
  isSlow: boolean
}

/**
 * For how long the permits of a limit are held that many destinations share. A permit counts for as long as it is held: a call of 5 s as
 * much as a thousand of 5 ms. Times are monotonic milliseconds.
 */
export class PermitTime {
  #window = 0
  #now = noSums()
  #before = noSums()

  /** A call of this destination has ended. */
  ended(time: CallTime, tookMs: number, now: number): void {
    this.#moveTo(Math.floor(now / windowMs))
    this.#now.held += tookMs
    this.#now.squares += tookMs * tookMs
    time.meanMs = time.meanMs === undefined ? tookMs : time.meanMs + (tookMs - time.meanMs) * lastCallPart
    time.isSlow = time.meanMs > Math.max(neverSlowMs, quickPart * this.typicalMs)
    if (!time.isSlow) this.#now.hasQuick = true
  }

  /** Whether there are quick destinations. */
  get hasQuick(): boolean {
    return this.#now.hasQuick || this.#before.hasQuick
  }

  /** How long the call takes that a permit is found held for: the mean of all calls, each weighted with the time that it takes. */
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
