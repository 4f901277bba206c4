import { flowLimits } from './limits.ts'

const { burstMs, minBurst } = flowLimits.share

/**
 * A token bucket that spreads attempts evenly over time. It holds the tokens of 100 ms, at least
 * two: a late timer then loses nothing, and a pause saves up nearly nothing. An attempt spends one
 * token. The caller says how many tokens are added, so the rate may change at any time.
 */
export class PacedBucket {
  #tokens = 0

  /** Adds tokens. `perSecond` is the present rate, which limits how many the bucket holds. */
  fill(tokens: number, perSecond: number): void {
    this.#tokens = Math.min(this.#tokens + tokens, Math.max(minBurst, (perSecond * burstMs) / 1_000))
  }

  /** Milliseconds until the bucket has a token; 0 when it has one, `Infinity` when the rate is 0. */
  msToWait(perSecond: number): number {
    return this.#tokens >= 1 ? 0 : ((1 - this.#tokens) * 1_000) / perSecond
  }

  spend(): void {
    this.#tokens--
  }
}
