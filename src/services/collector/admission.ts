import type { Outage } from '../../core/collector/outage.ts'
import type { SourceKeys } from '../../core/collector/source-keys.ts'
import type { Admission } from '../../core/collector/tracking-api.ts'
import { RateLimiter } from '../../core/flow/rate-limiter.ts'
import { refusal } from '../../core/message/refusal.ts'
import type { Clock } from '../../core/ports.ts'

/** A quiet source may send the messages of one second at once. */
const burstMs = 1_000

interface Deps {
  readonly outage: Outage
  readonly clock: Pick<Clock, 'monotonic'>
  /** As of now. */
  readonly sources: () => SourceKeys
  /** Messages a second; undefined: no limit. */
  readonly ratePerSource: number | undefined
}

export interface AdmissionControl {
  /** Whose key this is, and whether that source may send at present. Undefined: the request has no key. */
  admit(key: string | undefined): Admission
  /** Counts messages against the source's rate. */
  spend(sourceId: string, messages: number): void
}

/** Judges the sender of a request. It costs little, so it is asked before the body is read, and again when it has been. */
export function createAdmissionControl({ outage, clock, sources, ratePerSource }: Deps): AdmissionControl {
  const limiters = new Map<string, RateLimiter>()

  function limiterOf(sourceId: string, now: number): RateLimiter {
    const limiter = limiters.get(sourceId) ?? new RateLimiter(burstMs, now - burstMs)
    limiters.set(sourceId, limiter)
    return limiter
  }

  return {
    admit(key) {
      const sourceId = key === undefined ? undefined : sources().sourceOf(key)
      if (sourceId === undefined) return key === undefined ? noWriteKey : unknownWriteKey
      const now = clock.monotonic()
      const seconds = ratePerSource === undefined ? 0 : limiterOf(sourceId, now).secondsToWait(now)
      if (seconds > 0) {
        const text = `This source sends more than ${ratePerSource} messages a second: send again in ${seconds} s.`
        return refusal('rate_limited', text, { retryAfter: seconds })
      }
      return outage.admits(now) ? { kind: 'admitted', sourceId } : kafkaUnavailable
    },
    spend(sourceId, messages) {
      const now = clock.monotonic()
      if (ratePerSource !== undefined) limiterOf(sourceId, now).spend(messages, ratePerSource, now)
    },
  }
}

const noWriteKey = refusal(
  'invalid_write_key',
  `There is no write key: send it as the user of HTTP Basic, as 'X-Write-Key', or as 'writeKey' in the body.`,
)
const unknownWriteKey = refusal('invalid_write_key', 'No source has this write key.')
export const kafkaUnavailable = refusal(
  'unavailable',
  'The messages cannot be stored at present: send all of them again.',
  { retryAfter: 5 },
)
