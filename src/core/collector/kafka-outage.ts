/**
 * Time between two requests that the collector admits during an outage, to test whether Kafka
 * accepts records again.
 */
const probeEveryMs = 1_000
/**
 * Time without an acknowledgement after which a failed write begins an outage. Equals the maximum
 * wait of a request for Kafka (`storeDeadline` in store-records.ts).
 */
const outageAfterMs = 10_000

/**
 * Detects an outage of Kafka, in which the collector admits one request per second until the next
 * acknowledgement. An acknowledgement from any partition prevents or ends an outage.
 */
export class KafkaOutage {
  #since: number | undefined
  #acknowledgedAt = Number.NEGATIVE_INFINITY
  #lastFailureAt = 0
  #nextProbeAt = 0

  /**
   * Whether the collector admits a request now. In all methods, times are milliseconds of one
   * monotonic clock.
   */
  admits(now: number): boolean {
    return this.#since === undefined || now >= this.#nextProbeAt
  }

  /** Notes that a request sends its messages to Kafka. */
  tried(now: number): void {
    this.#nextProbeAt = now + probeEveryMs
  }

  /**
   * Notes that the probe that began at `triedAt` sent no message to Kafka, so another request may
   * be the next probe.
   */
  sentNothing(triedAt: number): void {
    if (this.#nextProbeAt === triedAt + probeEveryMs) this.#nextProbeAt = triedAt
  }

  failed(now: number): void {
    if (this.#since === undefined) {
      if (now - this.#acknowledgedAt < outageAfterMs) return
      this.#since = now
      this.#nextProbeAt = now + probeEveryMs
    }
    // Further failures during the outage do not change `#nextProbeAt`: otherwise, more than one
    // failure per second would prevent every probe.
    this.#lastFailureAt = now
  }

  acknowledged(now: number): void {
    this.#since = undefined
    this.#acknowledgedAt = now
  }

  /**
   * Milliseconds since the first and since the last failed append of the outage; `undefined`
   * without an outage.
   */
  age(now: number): { readonly lastedMs: number; readonly seenMsAgo: number } | undefined {
    return this.#since === undefined ? undefined : { lastedMs: now - this.#since, seenMsAgo: now - this.#lastFailureAt }
  }
}
