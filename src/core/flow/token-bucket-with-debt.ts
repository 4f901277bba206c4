/**
 * A token bucket that stores a time, `#paidUntil`, instead of a number of tokens.
 * - If this time is in the past, the difference to now is credit, at most `burstMs`.
 * - If this time is in the future, the difference is debt: a caller has spent more than the credit.
 *   The next callers wait until the debt is paid.
 *
 * Times are monotonic milliseconds.
 */
export class RateLimiter {
  readonly #burstMs: number
  #paidUntil: number

  /**
   * @param burstMs the maximum credit: callers can spend what the rate allows in this time
   * @param since the time at which the credit begins to grow
   */
  constructor(burstMs: number, since: number) {
    this.#burstMs = burstMs
    this.#paidUntil = since
  }

  /** Milliseconds until the debt is paid; 0 without debt. */
  msToWait(now: number): number {
    return Math.max(0, this.#debtMs(now))
  }

  /** Whole seconds until credit exists again, as a value for the header `Retry-After`. */
  secondsToWait(now: number): number {
    const debt = this.#debtMs(now)
    return debt < 0 ? 0 : Math.floor(debt / 1_000) + 1
  }

  /** Whole seconds until `count` can be spent without debt. */
  secondsToWaitFor(count: number, perSecond: number, now: number): number {
    return Math.ceil(Math.max(0, this.#debtMs(now) / 1_000 + count / perSecond))
  }

  spend(count: number, perSecond: number, now: number): void {
    this.#paidUntil = Math.max(this.#paidUntil, now - this.#burstMs) + (count * 1_000) / perSecond
  }

  /** The debt in milliseconds; a negative value is credit. */
  #debtMs(now: number): number {
    return Math.max(this.#paidUntil - now, -this.#burstMs)
  }
}
