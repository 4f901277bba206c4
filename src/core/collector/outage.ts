/** How often a request is admitted during an outage, to see whether Kafka accepts records again. */
const probeEveryMs = 1_000

/**
 * Detects that Kafka accepts no records. From the first failure until the next acknowledgement, the
 * collector refuses requests before it reads their messages into memory, except one per second. One
 * acknowledgement ends the outage. When only some partitions fail, messages for the others are
 * still accepted, and the memory budget limits those that wait.
 */
export class Outage {
  #since: number | undefined
  #lastFailureAt = 0
  #nextProbeAt = 0

  /**
   * Whether a request may send its messages to Kafka. Times are milliseconds of one monotonic
   * clock.
   */
  admits(now: number): boolean {
    return this.#since === undefined || now >= this.#nextProbeAt
  }

  /** Notes that a request sends its messages to Kafka. */
  tried(now: number): void {
    this.#nextProbeAt = now + probeEveryMs
  }

  /** Notes that a record was refused, or not acknowledged in time. */
  failed(now: number): void {
    this.#since ??= now
    this.#lastFailureAt = now
    this.#nextProbeAt = now + probeEveryMs
  }

  /** Notes that a record was acknowledged. */
  acknowledged(): void {
    this.#since = undefined
  }

  /**
   * How long nothing was acknowledged, and how long ago the last append failed. `undefined` when
   * there is no outage.
   */
  age(now: number): { readonly lastedMs: number; readonly seenMsAgo: number } | undefined {
    return this.#since === undefined ? undefined : { lastedMs: now - this.#since, seenMsAgo: now - this.#lastFailureAt }
  }
}
