/**
 * How much one source may still send. Holds one second's worth unless told otherwise, so that a quiet source may burst; what is spent may exceed what is left,
 * once: so a batch larger than the bucket gets through, and the time it takes to pay back keeps the mean.
 */
export class TokenBucket {
  readonly #perSecond: number
  readonly #capacity: number
  #tokens: number
  #at: number

  /** Times in milliseconds of one monotonic clock. */
  constructor(perSecond: number, now: number, capacity = perSecond) {
    this.#perSecond = perSecond
    this.#capacity = capacity
    this.#tokens = capacity
    this.#at = now
  }

  /** Whole seconds until anything may be spent; 0: now. */
  secondsToWait(now: number): number {
    this.#refill(now)
    return this.#tokens > 0 ? 0 : Math.floor(-this.#tokens / this.#perSecond) + 1
  }

  /** Whole seconds until so much may be spent without a debt; 0: now. */
  secondsToWaitFor(count: number, now: number): number {
    this.#refill(now)
    return Math.ceil(Math.max(0, count - this.#tokens) / this.#perSecond)
  }

  spend(count: number, now: number): void {
    this.#refill(now)
    this.#tokens -= count
  }

  #refill(now: number): void {
    this.#tokens = Math.min(this.#capacity, this.#tokens + ((now - this.#at) / 1_000) * this.#perSecond)
    this.#at = now
  }
}
