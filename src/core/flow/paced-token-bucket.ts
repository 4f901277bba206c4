import { flowLimits } from './flow-control-constants.ts'

const { burstMs, minBurst } = flowLimits.share

/**
 * A token bucket that spreads attempts evenly over time. It keeps a few tokens, so that a late
 * timer loses no attempts.
 */
export class PacedBucket {
  #tokens = 0

  /**
   * Adds tokens. `perSecond` is the current rate, which limits the number of tokens in the bucket.
   */
  fill(tokens: number, perSecond: number): void {
    this.#tokens = Math.min(this.#tokens + tokens, Math.max(minBurst, (perSecond * burstMs) / 1_000))
  }

  /** Milliseconds until the bucket has a token; `Infinity` when the rate is 0. */
  msToWait(perSecond: number): number {
    return this.#tokens >= 1 ? 0 : ((1 - this.#tokens) * 1_000) / perSecond
  }

  spend(): void {
    this.#tokens--
  }
}
