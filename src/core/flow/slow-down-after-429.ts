import { flowLimits } from './flow-control-constants.ts'
import { PacedBucket } from './paced-token-bucket.ts'

const {
  meanOverMs,
  meanOverAttempts,
  minFactor,
  maxFactor,
  lowerEveryMs,
  backOffMs,
  holdMs,
  growthPerSecond,
  growthRampMs,
  growthPerAttempt,
  nearFactor,
  minPerSecond,
  minFirstPerSecond,
  maxPauseMs,
  forgetAfterMs,
} = flowLimits.slowDown

/*
 * unlimited: Attempts start without a pace. The first 429 leads to `slowed`, with the measured rate
 *            of delivered attempts as the pace.
 * slowed:    Attempts start at the pace, evenly spread.
 *            - A 429 lowers the pace to the measured rate, at most once a second.
 *            - Then the pace is constant until it has made deliveries wait for 20 s in total.
 *            - Then the pace grows while it makes deliveries wait. Without waiting deliveries, no
 *              attempt tests whether the endpoint accepts the pace.
 *            - After ten minutes without a 429: `unlimited`.
 *
 * In both states a 429 pauses all attempts for 100 ms. Each further 429 without a delivered attempt
 * in between doubles the pause, up to 1 s.
 */

/**
 * Adapts the rate of one destination to an endpoint that responds with 429. Times are monotonic
 * milliseconds.
 */
export class SlowDown {
  readonly #mean = new DeliveredRate()
  readonly #bucket = new PacedBucket()
  #filledAt = 0
  #pace: number | undefined
  /** When the first 429 gave the unlimited destination a pace. */
  #begunAt = 0
  /** When the pace was last lowered, or set by the first 429. */
  #loweredAt = 0
  /** When the last 429 arrived. Ignored 429s do not count (see `refused`). */
  #refusedAt = Number.NEGATIVE_INFINITY
  /** The length of the pause after the next 429, in milliseconds. */
  #backOffMs: number = backOffMs.first
  /** The last pace, in attempts per second, at which no 429 arrived for `holdMs`; 0 for none. */
  #heldPace = 0
  /**
   * Milliseconds since `#loweredAt` in which deliveries waited because of the pace. Above `holdMs`,
   * the pace grows.
   */
  #limitedMs = 0
  /**
   * When deliveries began to wait because of the pace. A delivered attempt or a lower pace clears
   * this time.
   */
  #limitedSince: number | undefined
  #pausedUntil = Number.NEGATIVE_INFINITY
  /**
   * When an attempt was last delivered. Before the first delivered attempt: when the first pause
   * began.
   */
  #deliveredAt: number | undefined
  /**
   * The part of the destination's rate that this process may use; 0 before the first call of
   * `setPart`.
   */
  #part = 0
  /**
   * The total length of all pauses in milliseconds, including the rest of the current pause (see
   * `#active`).
   */
  #pausedMs = 0

  /**
   * Whether the destination has a pace or a pause. Stays true after their end until `msToWait` is
   * called.
   */
  get isActive(): boolean {
    return this.#pace !== undefined || this.#pausedUntil > Number.NEGATIVE_INFINITY
  }

  /** The pace in attempts per second; `undefined` while the destination is unlimited. */
  paceAt(now: number): number | undefined {
    if (this.#pace !== undefined && now - this.#refusedAt >= forgetAfterMs) {
      this.#pace = undefined
      this.#mean.overAttempts(Number.POSITIVE_INFINITY)
    }
    return this.#pace
  }

  /** The moving mean of delivered attempts per second. */
  deliveredPerSecond(now: number): number {
    return this.#mean.at(this.#active(now))
  }

  /** Milliseconds until the current pause ends. */
  msPaused(now: number): number {
    return Math.max(0, this.#pausedUntil - now)
  }

  /** Whether an attempt was delivered, or the first pause began, in the last five minutes. */
  hasRecentDeliveryOrPause(now: number): boolean {
    return this.#deliveredAt !== undefined && now - this.#deliveredAt < maxPauseMs
  }

  msToWait(now: number): number {
    const paused = this.msPaused(now)
    if (paused === 0) this.#pausedUntil = Number.NEGATIVE_INFINITY
    const pace = this.paceAt(now)
    if (pace === undefined) return paused
    this.#fill(now, pace)
    const wait = this.#bucket.msToWait(pace)
    if (wait > 0) this.#limitedSince ??= now
    return Math.max(paused, wait)
  }

  /**
   * Notes that an attempt starts. While the destination has a pace, an attempt may start only when
   * `msToWait` returns 0.
   */
  started(): void {
    if (this.#pace !== undefined) this.#bucket.spend()
  }

  /** Notes that an attempt was delivered. */
  delivered(now: number): void {
    this.#deliveredAt = now
    this.#backOffMs = backOffMs.first
    const mean = this.#mean.add(this.#active(now))
    if (this.#pace === undefined) return
    // In the first second after the first 429, attempts from before the 429 may still be delivered.
    // The pace rises to their measured rate, because the endpoint accepts this rate.
    if (now - this.#begunAt >= lowerEveryMs) this.#grow(this.#pace, now)
    else if (mean > this.#pace) this.#setPace(mean, now)
  }

  /**
   * Notes a 429. A 429 for an attempt that started before the last 429 arrived is ignored: it does
   * not show what the endpoint accepts now.
   */
  refused(startedAt: number, now: number): void {
    if (startedAt < this.#refusedAt) return
    this.#refusedAt = now
    if (this.#pace === undefined) this.#begin(now)
    else if (now - this.#loweredAt >= lowerEveryMs) this.#lower(this.#pace, now)
    this.pause(this.#backOffMs, now)
    this.#backOffMs = Math.min(this.#backOffMs * 2, backOffMs.max)
  }

  /** Pauses all attempts, for at most five minutes. Does not shorten a current pause. */
  pause(forMs: number, now: number): void {
    this.#deliveredAt ??= now
    const until = now + Math.min(forMs, maxPauseMs)
    this.#pausedMs += Math.max(0, until - Math.max(now, this.#pausedUntil))
    this.#pausedUntil = Math.max(this.#pausedUntil, until)
  }

  /**
   * Notes which part of the destination's rate this process may use. A part of 0 is ignored: a
   * process without a part still makes attempts for retry records, and these need a pace.
   */
  setPart(part: number, now: number): void {
    if (part === this.#part || part === 0) return
    const factor = this.#part === 0 ? 1 : part / this.#part
    this.#part = part
    if (this.#pace === undefined || factor === 1) return
    this.#heldPace *= factor
    this.#mean.scale(factor)
    this.#setPace(Math.max(minPerSecond, this.#pace * factor), now)
  }

  #begin(now: number): void {
    this.#filledAt = this.#begunAt = now
    this.#heldPace = 0
    this.#pace = Math.max(this.#mean.at(this.#active(now)), minFirstPerSecond)
    this.#hold(now)
  }

  #lower(pace: number, now: number): void {
    const mean = this.#mean.at(this.#active(now))
    const lowered = Math.min(Math.max(mean, pace * minFactor), pace * maxFactor)
    const held = this.#heldPace
    const isNear = held < lowered && pace < held * nearFactor
    this.#setPace(Math.max(minPerSecond, isNear ? (held + lowered) / 2 : lowered), now)
    this.#mean.overAttempts(this.#pace as number)
    this.#hold(now)
  }

  #hold(now: number): void {
    this.#loweredAt = now
    this.#limitedMs = 0
    this.#limitedSince = undefined
  }

  #grow(pace: number, now: number): void {
    if (this.#limitedSince === undefined) return
    const before = Math.max(0, this.#limitedMs - holdMs)
    this.#limitedMs += now - this.#limitedSince
    this.#limitedSince = undefined
    const after = Math.max(0, this.#limitedMs - holdMs)
    if (after === 0) return
    if (before === 0) this.#heldPace = pace
    const growth = (((slopeAfter(before) + slopeAfter(after)) / 2) * (after - before)) / 1_000
    this.#setPace(pace * (1 + Math.min(growth, growthPerAttempt)), now)
    this.#mean.overAttempts(this.#pace as number)
  }

  #setPace(pace: number, now: number): void {
    this.#fill(now, this.#pace as number)
    this.#pace = pace
  }

  #fill(now: number, pace: number): void {
    this.#bucket.fill((pace * (now - this.#filledAt)) / 1_000, pace)
    this.#filledAt = now
  }

  /**
   * Returns the time that counts for the delivered rate: `now` minus all pauses before `now`.
   * `#pausedMs` also includes the rest of the current pause, so this rest is added again.
   */
  #active(now: number): number {
    return now - this.#pausedMs + this.msPaused(now)
  }
}

/** The fraction by which the pace grows in one second. `ms`: for how long it has grown already. */
const slopeAfter = (ms: number): number => growthPerSecond * Math.min(1, ms / growthRampMs)

/** The moving mean of delivered attempts per second. */
class DeliveredRate {
  #perSecond = 0
  #at = 0
  #overMs: number = meanOverMs

  /**
   * Sets the time over which the mean is computed. At a low `pace`, this time is longer, so that
   * the mean includes enough attempts. `pace` is `Infinity` if the attempts are unlimited.
   */
  overAttempts(pace: number): void {
    this.#overMs = Math.max(meanOverMs, (meanOverAttempts * 1_000) / pace)
  }

  /** Adds an attempt that was delivered at `now`, and returns the new mean per second. */
  add(now: number): number {
    this.#perSecond = this.at(now) + 1_000 / this.#overMs
    this.#at = now
    return this.#perSecond
  }

  scale(factor: number): void {
    this.#perSecond *= factor
  }

  at(now: number): number {
    return this.#perSecond * Math.exp((this.#at - now) / this.#overMs)
  }
}
