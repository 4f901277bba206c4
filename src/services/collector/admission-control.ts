import type { KafkaOutage } from '../../core/collector/kafka-outage.ts'
import type { SourceKeys } from '../../core/collector/source-keys.ts'
import type { Admission } from '../../core/collector/tracking-api.ts'
import { RateLimiter } from '../../core/flow/token-bucket-with-debt.ts'
import { kafkaUnavailable, type Refusal, refusal } from '../../core/message/request-refusal.ts'
import type { Clock } from '../../core/ports.ts'

/**
 * After a pause, a source may send a burst: the messages that its rate allows in this time, in ms.
 */
const burstMs = 1_000

interface Deps {
  readonly outage: KafkaOutage
  readonly clock: Pick<Clock, 'monotonic'>
  /** Returns the sources of the current configuration. */
  readonly sources: () => SourceKeys
  /** Maximum messages per second of one source in this process. */
  readonly ratePerSource: number | undefined
}

export interface AdmissionControl {
  /** Finds the source of a write key, if any, and decides whether the source may send now. */
  admit(key: string | undefined): Admission
  /**
   * Counts messages against the source's rate limit. If the source may not send now, counts
   * nothing, and returns the reason.
   */
  spend(sourceId: string, messages: number): Refusal | undefined
  /** Cancels `spend` for messages that were not stored. */
  giveBack(sourceId: string, messages: number): void
}

/**
 * Creates the checks of the write key, the rate limit and the Kafka outage. The caller repeats them
 * after each wait, because other requests may have used the limit.
 */
export function createAdmissionControl({ outage, clock, sources, ratePerSource }: Deps): AdmissionControl {
  const limiters = new Map<string, RateLimiter>()

  function limiterOf(sourceId: string, now: number): RateLimiter {
    const limiter = limiters.get(sourceId) ?? new RateLimiter(burstMs, now - burstMs)
    limiters.set(sourceId, limiter)
    return limiter
  }

  function refusalOf(sourceId: string): Refusal | undefined {
    const now = clock.monotonic()
    const seconds = ratePerSource === undefined ? 0 : limiterOf(sourceId, now).secondsToWait(now)
    if (seconds > 0) {
      const text = `This source exceeds its limit of ${ratePerSource} messages per second: send the request again in ${seconds} s.`
      return refusal('rate_limited', text, { retryAfter: seconds })
    }
    return outage.admits(now) ? undefined : kafkaUnavailable
  }

  function count(sourceId: string, messages: number): void {
    const now = clock.monotonic()
    if (ratePerSource !== undefined) limiterOf(sourceId, now).spend(messages, ratePerSource, now)
  }

  return {
    admit(key) {
      const sourceId = key === undefined ? undefined : sources().sourceOf(key)
      if (sourceId === undefined) return key === undefined ? noWriteKey : unknownWriteKey
      return refusalOf(sourceId) ?? { kind: 'admitted', sourceId }
    },
    spend(sourceId, messages) {
      const refused = refusalOf(sourceId)
      if (refused === undefined) count(sourceId, messages)
      return refused
    },
    giveBack: (sourceId, messages) => count(sourceId, -messages),
  }
}

const noWriteKey = refusal(
  'invalid_write_key',
  'The request has no write key: send it as the user name of HTTP Basic, in the header X-Write-Key, or as writeKey in the body.',
)
const unknownWriteKey = refusal(
  'invalid_write_key',
  'No source has this write key: correct the key, or add it to a source.',
)
