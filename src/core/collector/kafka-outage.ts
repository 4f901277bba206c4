/**
 * Milliseconds between two *probes*: requests that the collector admits during an outage of Kafka
 * to find out whether Kafka accepts records again.
 */
const probeEveryMs = 1_000
/**
 * Time without an acknowledgement, in ms, after which a failed write begins an outage. It is the
 * maximum time that a request waits for Kafka (`storeDeadline` in store-records.ts). So an outage
 * begins only if Kafka stored nothing while the failed request waited.
 */
const outageAfterMs = 10_000

/**
 * Detects that Kafka accepts no records. An outage begins when a write fails and Kafka has
 * acknowledged no record for ten seconds. From then until the next acknowledgement, the collector
 * admits one request per second. It refuses the other requests as soon as it knows their write key,
 * usually before it has read the body.
 *
 * When only some partitions fail, acknowledgements from other partitions prevent an outage, or end
 * it. So the collector also admits messages for the failing partitions. They wait in memory, which
 * the memory budget limits. If the working partitions get no record for ten seconds, an outage can
 * begin. It then lasts until a working partition gets a record.
 */
export class KafkaOutage {
  #since: number | undefined
  #acknowledgedAt = Number.NEGATIVE_INFINITY
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

  /**
   * Notes that the request that called `tried` at `triedAt` sent no message to Kafka. Another
   * request may now send its messages, unless one has called `tried` since then.
   */
  sentNothing(triedAt: number): void {
    if (this.#nextProbeAt === triedAt + probeEveryMs) this.#nextProbeAt = triedAt
  }

  /** Notes that Kafka refused a record, or did not acknowledge it in time. */
  failed(now: number): void {
    if (this.#since === undefined) {
      if (now - this.#acknowledgedAt < outageAfterMs) return
      this.#since = now
      this.#nextProbeAt = now + probeEveryMs
    }
    // A further failure does not postpone the next probe. Otherwise, more than one failure per
    // second would prevent every probe.
    this.#lastFailureAt = now
  }

  acknowledged(now: number): void {
    this.#since = undefined
    this.#acknowledgedAt = now
  }

  /**
   * Milliseconds since the first and since the last failed append of the outage. `undefined` when
   * there is no outage.
   */
  age(now: number): { readonly lastedMs: number; readonly seenMsAgo: number } | undefined {
    return this.#since === undefined ? undefined : { lastedMs: now - this.#since, seenMsAgo: now - this.#lastFailureAt }
  }
}
