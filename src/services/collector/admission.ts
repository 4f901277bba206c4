import type { Outage } from '../../core/collector/outage.ts'
import type { SourceKeys } from '../../core/collector/source-keys.ts'
import { TokenBucket } from '../../core/collector/token-bucket.ts'
import type { Clock } from '../../core/ports.ts'
import { type Admission, refusal } from '../../core/tracking-api.ts'

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
  const buckets = new Map<string, TokenBucket>()

  function bucketOf(sourceId: string, now: number): TokenBucket | undefined {
    if (ratePerSource === undefined) return undefined
    const bucket = buckets.get(sourceId) ?? new TokenBucket(ratePerSource, now)
    buckets.set(sourceId, bucket)
    return bucket
  }

  return {
    admit(key) {
      const sourceId = key === undefined ? undefined : sources().sourceOf(key)
      if (sourceId === undefined) return key === undefined ? noWriteKey : unknownWriteKey
      const now = clock.monotonic()
      const seconds = bucketOf(sourceId, now)?.secondsToWait(now) ?? 0
      if (seconds > 0) {
        const text = `This source sends more than ${ratePerSource} messages a second: send again in ${seconds} s.`
        return refusal('rate_limited', text, { retryAfter: seconds })
      }
      return outage.admits(now) ? { kind: 'admitted', sourceId } : kafkaUnavailable
    },
    spend(sourceId, messages) {
      const now = clock.monotonic()
      bucketOf(sourceId, now)?.spend(messages, now)
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
