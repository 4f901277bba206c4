import type { KafkaOutage } from '../../core/collector/kafka-outage.ts'
import type { SharedMemory } from '../../core/collector/memory-limit-by-group.ts'
import { effectiveWriteKey } from '../../core/collector/source-keys.ts'
import type { TrackingAnswer, TrackingRequest } from '../../core/collector/tracking-api.ts'
import { type MessageBatch, maxMessages, readBatch, writeKeyIn } from '../../core/message/batch.ts'
import { maxWorkPerCall } from '../../core/message/normalise-batch.ts'
import { kafkaUnavailable, neverFits, noMemory, refusal } from '../../core/message/request-refusal.ts'
import type { Metrics } from '../../core/metrics/metrics.ts'
import type { Clock, EventCodec } from '../../core/ports.ts'
import type { TopicNames } from '../../core/topics.ts'
import type { Tracer } from '../../core/trace/tracer.ts'
import type { SuppressionList } from '../deletion/suppression-list.ts'
import type { AdmissionControl } from './admission-control.ts'
import type { FairTurns } from './fair-turns.ts'
import { createMakeRecords } from './make-records.ts'
import { HeldRecords } from './request-records-in-memory.ts'
import { createTracedStore, type StoreRecords } from './store-records.ts'
import type { KeepRejected } from './write-rejected-messages.ts'

interface Deps {
  readonly codec: EventCodec
  /** The memory for records that Kafka has not acknowledged. */
  readonly held: SharedMemory
  readonly turns: FairTurns
  readonly store: StoreRecords
  readonly keepRejected: KeepRejected
  readonly outage: KafkaOutage
  readonly suppressions: Pick<SuppressionList, 'size' | 'stops'>
  readonly clock: Clock
  readonly metrics: Metrics
  readonly admission: AdmissionControl
  readonly topics: Pick<TopicNames, 'events'>
  readonly tracer?: Tracer | undefined
}

/** Memory, in bytes, for the position of one message in the body of a request. */
const placeBytes = 24

/**
 * If a short body has more messages than this, the work on them waits for a turn (`FairTurns`),
 * because even a short message has a fixed cost.
 */
const manyMessages = 250

/**
 * Handles a tracking request. Messages count as accepted only when Kafka has acknowledged all of
 * them.
 */
export function createAccept(deps: Deps): (request: TrackingRequest) => Promise<TrackingAnswer> {
  const { keepRejected, outage, clock, metrics, admission, held, turns } = deps
  const storeTraced = createTracedStore(deps)
  const makeRecords = createMakeRecords({ ...deps, nextTurn: turns.next })

  /** Makes and stores the records of a batch. `triedAt`: when the request called `outage.tried`. */
  async function acceptFrom(
    sourceId: string,
    batch: MessageBatch,
    request: TrackingRequest,
    triedAt: number,
  ): Promise<TrackingAnswer> {
    const { receivedAt, strict, trace, reserve, canEverReserve } = request
    const { size, text } = batch.elements
    const records = new HeldRecords(held, sourceId)
    try {
      const made = await makeRecords(batch, { sourceId, receivedAt, strict, reserve, canEverReserve }, records)
      if (made.kind !== 'made') {
        // During an outage, `sentNothing` lets another request probe Kafka immediately. If memory
        // is short, do not call it: the other request would have no memory either.
        if (made.kind !== 'no_memory') outage.sentNothing(triedAt)
        return notMade[made.kind]
      }
      const { rejected, suppressed, droppedKeys } = made
      const isRefused = strict && rejected.length > 0
      const accepted = isRefused ? 0 : records.size
      if (accepted === 0) outage.sentNothing(triedAt)
      else {
        // Messages that Kafka did not store do not count against the rate limit of the source.
        const onFinished = (failed: number): void => admission.giveBack(sourceId, failed)
        if ((await storeTraced({ records, sourceId, trace, onFinished })) !== 'stored') return kafkaUnavailable
        metrics.collectorMessages.inc({ source: sourceId, result: 'accepted' }, accepted)
      }
      if (droppedKeys > 0 && !isRefused) metrics.droppedKeys.inc({}, droppedKeys)
      if (suppressed > 0 && !isRefused)
        metrics.collectorMessages.inc({ source: sourceId, result: 'suppressed' }, suppressed)
      if (rejected.length > 0) {
        metrics.collectorMessages.inc({ source: sourceId, result: 'rejected' }, rejected.length)
        await keepRejected({ sourceId, receivedAt, rejected, text })
      }
      return isRefused
        ? refusal('rejected', strictText(rejected.length, size), { rejected })
        : { kind: 'accepted', rejected }
    } finally {
      records.discard()
    }
  }

  return async request => {
    const { type, headerKey, queryKey, body } = request
    // The HTTP server has checked the key before it read the body. Check again, because the source
    // may have reached its rate limit since then.
    const known = headerKey ? admission.admit(headerKey) : undefined
    if (known?.kind === 'refused') return known
    const isLong = body.length > maxWorkPerCall
    const waiting = isLong ? turns.next(request.sourceId, body.length) : turns.short(request.sourceId, body.length)
    if (waiting !== undefined) await waiting
    // Before the source is known, the body is only scanned for the write key, not parsed.
    const sender =
      known ?? admission.admit(effectiveWriteKey({ header: headerKey, body: writeKeyIn(body), query: queryKey }))
    if (sender.kind === 'refused') return sender
    // A scan of a body of 4 MiB can take 100 ms. `writeKeyIn` has scanned the body, and `readBatch`
    // scans it again, so `readBatch` gets its own turn.
    if (isLong && known === undefined) await turns.next(sender.sourceId, body.length)
    if (!request.assign(sender.sourceId)) return noMemory
    const batch = readBatch(body, type)
    if (batch.kind === 'refused') return batch
    const { size } = batch.elements
    if (!request.reserve(size * placeBytes)) return request.canEverReserve(size * placeBytes) ? noMemory : neverFits
    // Messages beyond `maxMessages` are rejected, so they do not count against the rate limit.
    const spent = Math.min(size, maxMessages)
    const notPermitted = admission.spend(sender.sourceId, spent)
    if (notPermitted !== undefined) return notPermitted
    const now = clock.monotonic()
    if (size > 0) outage.tried(now)
    // The work on many messages waits for a later turn. A single message does not wait: `readBatch`
    // may have parsed the message, and the result would stay in memory during the wait.
    if (size > (isLong ? 1 : manyMessages)) await turns.next(sender.sourceId)
    const answer = await acceptFrom(sender.sourceId, batch, request, now)
    if (answer === noMemory) admission.giveBack(sender.sourceId, spent)
    return answer
  }
}

const notMade = {
  no_memory: noMemory,
  too_many_rejected: refusal(
    'payload_too_large',
    'The list of rejected messages in the response would need more memory than one request may use, so no message is accepted: send smaller batches.',
  ),
}

const strictText = (rejected: number, size: number): string =>
  `${rejected} of ${size} messages are invalid. Because of the header X-Strict-Mode, none is accepted: correct the messages in "rejected", then send all messages again.`
