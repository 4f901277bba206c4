/**
 * Limits a rate, as a token bucket that keeps time instead of tokens: `#paidUntil` is the instant until which all that was spent is
 * paid. Before now it is credit, which is limited by the burst; after now it is debt. Spending may make a debt of any size, so a batch
 * larger than the burst gets through, and the time that it takes to pay back keeps the mean. The rate may change between two calls.
 * Times are milliseconds of one monotonic clock.
 */
export class RateLimiter {
  readonly #burstMs: number
  #paidUntil: number

  /** @param burstMs the longest time whose unused rate may be made up for later. @param since when the credit begins to grow. */
  constructor(burstMs: number, since: number) {
    this.#burstMs = burstMs
    this.#paidUntil = since
  }

  /** Milliseconds until there is no debt; 0: now. */
  msToWait(now: number): number {
    return Math.max(0, this.#debtMs(now))
  }

  /** Whole seconds until there is credit, for `Retry-After`; 0: now. */
  secondsToWait(now: number): number {
    const debt = this.#debtMs(now)
    return debt < 0 ? 0 : Math.floor(debt / 1_000) + 1
  }

  /** Whole seconds until `count` may be spent without a debt; 0: now. */
  secondsToWaitFor(count: number, perSecond: number, now: number): number {
    return Math.ceil(Math.max(0, this.#debtMs(now) / 1_000 + count / perSecond))
  }

  spend(count: number, perSecond: number, now: number): void {
    this.#paidUntil = Math.max(this.#paidUntil, now - this.#burstMs) + (count * 1_000) / perSecond
  }

  /** Negative: credit. */
  #debtMs(now: number): number {
    return Math.max(this.#paidUntil - now, -this.#burstMs)
  }
}
