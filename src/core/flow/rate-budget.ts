import { PacedBucket } from './paced-bucket.ts'
import type { PartitionShare } from './partition-share.ts'

/**
 * The attempts that this process may start at one destination with `ratePerSecond`. Times are
 * monotonic milliseconds.
 */
export class RateBudget {
  readonly #bucket = new PacedBucket()
  /** The position in `PartitionShare.secondsUntil` up to which the bucket was filled. */
  #filledTo = 0

  /**
   * Milliseconds until an attempt may start; 0 when it may start now, `Infinity` while this process
   * has no part in the rate.
   */
  msToWait(share: PartitionShare, perSecond: number, now: number): number {
    const seconds = share.secondsUntil(now)
    const own = perSecond * share.rateAt(now)
    this.#bucket.fill(perSecond * (seconds - this.#filledTo), own)
    this.#filledTo = seconds
    return this.#bucket.msToWait(own)
  }

  /** Notes that an attempt starts. Call it only when `msToWait` is 0. */
  started(): void {
    this.#bucket.spend()
  }
}
