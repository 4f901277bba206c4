/**
 * Milliseconds between two requests that the collector admits during an outage of Kafka. With these
 * requests it finds out whether Kafka accepts records again.
 */
const probeEveryMs = 1_000

/**
 * Detects that Kafka accepts no records. From the first failure until the next acknowledgement, the
 * collector admits one request per second. It refuses the other requests as soon as it knows their
 * write key, usually before it has read the body.
 *
 * When only some partitions fail, each acknowledgement from another partition ends the outage. So
 * the collector also admits messages for the failing partitions. They wait in memory, which the
 * memory budget limits.
 */
export class KafkaOutage {
  #since: number | undefined
  #lastFailureAt = 0
  #nextProbeAt = 0

  /**
   * Whether a request may send its messages to Kafka. Without an outage, every request may; during
   * an outage, one request per second. Times are milliseconds of one monotonic clock.
   */
  admits(now: number): boolean {
    return this.#since === undefined || now >= this.#nextProbeAt
  }

  /**
   * Notes that a request sends its messages to Kafka. During an outage, `admits` then refuses other
   * requests for a second.
   */
  tried(now: number): void {
    this.#nextProbeAt = now + probeEveryMs
  }

  /** Notes that the request of the last `tried` sent no message to Kafka. Another one may do so now. */
  sentNothing(now: number): void {
    this.#nextProbeAt = now
  }

  /** Notes that Kafka refused a record, or did not acknowledge it in time. */
  failed(now: number): void {
    this.#since ??= now
    this.#lastFailureAt = now
    this.#nextProbeAt = now + probeEveryMs
  }

  acknowledged(): void {
    this.#since = undefined
  }

  /**
   * Milliseconds since the first and since the last failed append of the outage. `undefined` when
   * there is no outage.
   */
  age(now: number): { readonly lastedMs: number; readonly seenMsAgo: number } | undefined {
    return this.#since === undefined ? undefined : { lastedMs: now - this.#since, seenMsAgo: now - this.#lastFailureAt }
  }
}
