/** While nothing is acknowledged, so often a request is let through to see whether it still is so. */
const probeEveryMs = 1_000

/**
 * Whether Kafka takes anything. From the first failure on, until the next acknowledgement, requests are refused before their messages are
 * held in memory, but for one a second. One acknowledgement is enough: where only some partitions fail, the others go on, and what waits
 * for the failing ones is bounded by the memory budget.
 */
export class Outage {
  #since: number | undefined
  #lastFailureAt = 0
  #nextProbeAt = 0

  /** Whether a request may go on to Kafka. Times in milliseconds of one monotonic clock. */
  admits(now: number): boolean {
    return this.#since === undefined || now >= this.#nextProbeAt
  }

  /** A request goes on to Kafka. */
  tried(now: number): void {
    this.#nextProbeAt = now + probeEveryMs
  }

  /** A record was refused, or not acknowledged in time. */
  failed(now: number): void {
    this.#since ??= now
    this.#lastFailureAt = now
    this.#nextProbeAt = now + probeEveryMs
  }

  /** A record was acknowledged. */
  acknowledged(): void {
    this.#since = undefined
  }

  /** For how long nothing was acknowledged, and when that last showed; undefined when all is well. Milliseconds. */
  age(now: number): { readonly lastedMs: number; readonly seenMsAgo: number } | undefined {
    return this.#since === undefined ? undefined : { lastedMs: now - this.#since, seenMsAgo: now - this.#lastFailureAt }
  }
}
