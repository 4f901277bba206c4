import type { PartitionShare } from './limit-share-by-partitions.ts'
import { PacedBucket } from './paced-token-bucket.ts'

/**
 * Limits this process's attempts to its part of `ratePerSecond`, the rate of the whole
 * installation. Times are monotonic milliseconds.
 */
export class DestinationRateLimit {
  readonly #bucket = new PacedBucket()
  /** The value of `PartitionShare.secondsUntil` at the last call of `msToWait`. */
  #filledTo = 0

  /**
   * Milliseconds until an attempt may start; `Infinity` while this process has no part in the rate.
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
