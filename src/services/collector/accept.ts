import type { Outage } from '../../core/collector/outage.ts'
import { keyThatCounts, type SourceKeys } from '../../core/collector/source-keys.ts'
import { TokenBucket } from '../../core/collector/token-bucket.ts'
import { type Batch, readBatch, takeBatch } from '../../core/message/batch.ts'
import type { Message } from '../../core/message/message.ts'
import type { Metrics } from '../../core/metrics.ts'
import type { Clock, EventCodec } from '../../core/ports.ts'
import type { TopicNames } from '../../core/topics.ts'
import type { Tracer } from '../../core/trace/tracer.ts'
import {
  type Refusal,
  type RejectedMessage,
  refusal,
  type TrackingAnswer,
  type TrackingRequest,
} from '../../core/tracking-api.ts'
import type { EpochMs } from '../../core/units.ts'
import type { Marks } from '../deletion/marks.ts'
import type { KeepRejected } from './rejects.ts'
import type { Store } from './store.ts'
import { createTracedStore } from './traced-store.ts'

/** Seconds until a sender may come back: memory is free again at once, Kafka takes some. */
const retryAfter = { memory: 1, kafka: 5 } as const

interface Deps {
  readonly codec: EventCodec
  readonly store: Store
  readonly keepRejected: KeepRejected
  readonly outage: Outage
  /** Of deleted users. */
  readonly marks: Pick<Marks, 'size' | 'stops'>
  readonly clock: Clock
  readonly metrics: Metrics
  /** As of now. */
  readonly sources: () => SourceKeys
  /** Messages a second; undefined: no limit. */
  readonly ratePerSource: number | undefined
  readonly topics: Pick<TopicNames, 'events'>
  readonly tracer?: Tracer | undefined
}

interface Sender {
  readonly kind: 'sender'
  readonly sourceId: string
}

/** From a request's body to its answer: nothing is accepted before Kafka has all of it. */
export function createAccept(deps: Deps): (request: TrackingRequest) => Promise<TrackingAnswer> {
  const { keepRejected, outage, clock, metrics, sources, ratePerSource } = deps
  const storeTraced = createTracedStore(deps)
  const buckets = new Map<string, TokenBucket>()

  /** Who sends, and whether it may at present. */
  function admit(key: string | undefined): Sender | Refusal {
    const sourceId = key === undefined ? undefined : sources().sourceOf(key)
    if (sourceId === undefined) return key === undefined ? noWriteKey : unknownWriteKey
    const now = clock.monotonic()
    const seconds = bucketOf(sourceId, now)?.secondsToWait(now) ?? 0
    if (seconds > 0) {
      const text = `This source sends more than ${ratePerSource} messages a second: send again in ${seconds} s.`
      return refusal('rate_limited', text, { retryAfter: seconds })
    }
    return outage.admits(now) ? { kind: 'sender', sourceId } : kafkaUnavailable
  }

  function bucketOf(sourceId: string, now: number): TokenBucket | undefined {
    if (ratePerSource === undefined) return undefined
    const bucket = buckets.get(sourceId) ?? new TokenBucket(ratePerSource, now)
    buckets.set(sourceId, bucket)
    return bucket
  }

  function reject(
    { elements }: Batch,
    rejected: readonly RejectedMessage[],
    source: string,
    receivedAt: EpochMs,
  ): void {
    if (rejected.length === 0) return
    metrics.collectorMessages.inc({ source, result: 'rejected' }, rejected.length)
    keepRejected(rejected.map(each => ({ ...each, source, receivedAt, text: elements.text(each.index) })))
  }

  return async ({ type, headerKey, queryKey, body, strict, receivedAt, trace }) => {
    // A key in the headers is known before the body is looked at: so what is refused costs little.
    const known = headerKey ? admit(headerKey) : undefined
    if (known?.kind === 'refused') return known
    const batch = readBatch(body, type)
    if (batch.kind === 'refused') return batch
    const sender = known ?? admit(keyThatCounts({ header: headerKey, body: batch.writeKey, query: queryKey }))
    if (sender.kind === 'refused') return sender
    const { sourceId } = sender
    const now = clock.monotonic()
    bucketOf(sourceId, now)?.spend(batch.elements.size, now)

    const { messages, rejected, droppedKeys } = takeBatch(batch, receivedAt, () => clock.id())
    if (strict && rejected.length > 0) {
      reject(batch, rejected, sourceId, receivedAt)
      return refusal('rejected', strictText(rejected.length, batch.elements.size), { rejected })
    }
    const taken = withoutSuppressed(messages, { sourceId, receivedAt }, deps)
    if (taken.length > 0) {
      const outcome = await storeTraced({ messages: taken, sourceId, receivedAt, trace })
      if (outcome !== 'stored') return outcome === 'failed' ? kafkaUnavailable : noMemory
      metrics.collectorMessages.inc({ source: sourceId, result: 'accepted' }, taken.length)
      if (droppedKeys > 0) metrics.droppedKeys.inc({}, droppedKeys)
    }
    const suppressed = messages.length - taken.length
    if (suppressed > 0) metrics.collectorMessages.inc({ source: sourceId, result: 'suppressed' }, suppressed)
    reject(batch, rejected, sourceId, receivedAt)
    return { kind: 'accepted', rejected }
  }
}

/**
 * Nothing is taken of users who asked for that. Their senders are told that it was, as by other collectors: an SDK would send it again, and
 * again. What was received before a deletion, by our own clock, is left to the dispatcher, which drops it.
 */
function withoutSuppressed(
  messages: readonly Message[],
  where: { readonly sourceId: string; readonly receivedAt: EpochMs },
  { marks, clock }: Pick<Deps, 'marks' | 'clock'>,
): readonly Message[] {
  if (marks.size === 0) return messages
  return messages.filter(({ userId, type }) => marks.stops({ ...where, userId, type }, clock.now()) !== 'suppressed')
}

const noWriteKey = refusal(
  'invalid_write_key',
  `There is no write key: send it as the user of HTTP Basic, as 'X-Write-Key', or as 'writeKey' in the body.`,
)
const unknownWriteKey = refusal('invalid_write_key', 'No source has this write key.')
const kafkaUnavailable = refusal('unavailable', 'The messages cannot be stored at present: send all of them again.', {
  retryAfter: retryAfter.kafka,
})
const noMemory = refusal('unavailable', 'Too much is under way at present: send all of it again.', {
  retryAfter: retryAfter.memory,
})
const strictText = (rejected: number, size: number): string =>
  `${rejected} of ${size} messages are rejected, and none is taken (X-Strict-Mode): mend them and send all again.`
