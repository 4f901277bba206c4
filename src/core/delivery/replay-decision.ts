import { defaultSuppressionRetention } from '../default-suppression-retention.ts'
import { flowLimits } from '../flow/limits.ts'
import type { Event } from '../message/event.ts'
import type { LogRecord, OutgoingRecord } from '../ports.ts'
import { windowOf } from '../settings/effective-policy.ts'
import { type DurationMs, durationMs, type EpochMs, epochMs } from '../time.ts'
import type { TopicNames } from '../topics.ts'
import { originalOf } from './dead-letter-record.ts'
import { initialState, type Origin, parseDeliveryState, retryRecord } from './delivery-state.ts'
import type { DeadLetterReason } from './outcomes-reasons-and-classification.ts'
import type { DeadLetter } from './parse-dead-letter.ts'
import { type RetryPolicy, tierFor } from './retry-tier.ts'
import { isConnected, mayHaveUnknownSources, type Routing, routeRetry } from './route.ts'

/** Why `replayTargetOf` refuses to replay a dead letter. */
export const decidedRefusals = [
  'unknown_destination',
  'disabled',
  'not_connected',
  'deletion_expired',
  'truncated',
  'unreadable',
] as const
/** Why a dead letter is not replayed. `too_large`: the topic for the copy refused the copy. */
export const replayRefusals = [...decidedRefusals, 'too_large'] as const
export type ReplayRefusal = (typeof replayRefusals)[number]

/** The audience input with which Hookline sends a user's current value to a destination again. */
interface ResendInput {
  readonly kind: 'resend'
  readonly audience: string
  readonly userId: string
  readonly destination: string
}

/** What a replay does with a dead letter. */
export type ReplayTarget =
  /**
   * Restarts the delivery with a new retry window. `copy` is written to the retry topic with the
   * shortest wait, and is delivered only to the destination of the dead letter.
   */
  | { readonly kind: 'delivery'; readonly topic: string; readonly copy: OutgoingRecord }
  /**
   * Writes the unchanged event, which was dead-lettered before it became a delivery, to the events
   * topic again.
   */
  | { readonly kind: 'event'; readonly topic: string; readonly copy: OutgoingRecord }
  /**
   * Makes the audience (a synced list of users) send its current value for the user again, because
   * the value in the dead letter may be outdated.
   */
  | { readonly kind: 'resend'; readonly input: ResendInput }
  | { readonly kind: 'refused'; readonly reason: (typeof decidedRefusals)[number] }

export interface ReplayContext {
  readonly topics: TopicNames
  readonly routing: Routing
  readonly policy: Pick<RetryPolicy, 'window' | 'tiers'>
  /**
   * Whether a delivery is replayed even if its source is no longer connected to its destination, or
   * is not known because the event cannot be decoded.
   */
  readonly evenDisconnected?: boolean
}

/** The reasons with which an event can be dead-lettered before it becomes a delivery. */
const beforeDelivery: ReadonlySet<string> = new Set<DeadLetterReason>([
  'undecodable',
  'invalid_message',
  'unknown_source',
  'unknown_destination',
  'record_too_large',
])

/**
 * Decides how a dead letter is replayed. `event` is `undefined` when it cannot be decoded. The
 * replay is then refused, except with `evenDisconnected`.
 */
export function replayTargetOf(
  record: LogRecord,
  deadLetter: DeadLetter,
  { topics, routing, policy, evenDisconnected = false }: ReplayContext,
  now: EpochMs,
  event?: Event,
): ReplayTarget {
  const routed = deadLetter.destination === undefined ? undefined : routeRetry(deadLetter.destination, routing)
  if (routed !== undefined && routed.kind !== 'deliver') return { kind: 'refused', reason: routed.reason }
  if (deadLetter.originalLength !== undefined) return { kind: 'refused', reason: 'truncated' }
  const input = resendOf(event)
  if (input !== undefined) return { kind: 'resend', input }

  const original = originalOf(record)
  const given = parseDeliveryState(record.headers)
  if (given !== undefined) {
    const { origin, destination, messageId } = given
    // Since the event was dead-lettered, the id of its destination may have been given to another
    // customer. So the source of the event must still be connected to the destination. If the
    // source is not known, the dispatcher could later decode the copy and send it to the other
    // customer.
    if (!evenDisconnected) {
      if (event === undefined) return { kind: 'refused', reason: 'unreadable' }
      const isKnown = routing.destinations.has(destination) && !mayHaveUnknownSources(destination, routing)
      if (!isConnected(event.sourceId, destination, routing))
        return { kind: 'refused', reason: isKnown ? 'not_connected' : 'unknown_destination' }
    }
    const window = windowOf(routed?.destination.policy, policy)
    if (isDeletionExpired(event, now, window)) return { kind: 'refused', reason: 'deletion_expired' }
    const carried = { ...initialState(origin, destination, messageId, now, window), round: given.round + 1 }
    const topic = topics.retry(tierFor(durationMs(0), policy.tiers))
    const copy = retryRecord({ ...record, ...original }, carried)
    return { kind: 'delivery', topic, copy }
  }
  const { origin, reason } = deadLetter
  // Another program wrote a record without a valid destination to a retry topic. A replay of this
  // record would be dead-lettered again.
  if (origin?.topic !== topics.events || origin.partition < 0 || !beforeDelivery.has(reason))
    return { kind: 'refused', reason: 'unreadable' }
  // An event that was replayed before keeps its first `replay-of` header, from which its message id
  // and time may be derived (see `firstOrigin`).
  const headers = { [replayOfHeader]: toReplayOf(origin), ...original.headers }
  return { kind: 'event', topic: topics.events, copy: { ...original, headers, partition: origin.partition } }
}

/**
 * Whether the suppression of a delete message may expire before the end of a delivery that is
 * replayed now. The dispatcher would dead-letter a delete message without a suppression as a forged
 * one.
 */
const isDeletionExpired = (event: Event | undefined, now: EpochMs, window: DurationMs): boolean =>
  event?.message.type === 'delete' &&
  now + window + flowLimits.deferral.maxPausedTime > event.receivedAt + defaultSuppressionRetention

/**
 * The input that makes an audience send a user's value again. `undefined` for an event that no
 * audience sent.
 */
function resendOf(event: Event | undefined): ResendInput | undefined {
  const { origin, destinationId: destination, message } = event ?? {}
  const userId = message?.userId
  if (origin?.kind !== 'audience' || destination === undefined || userId === undefined) return undefined
  return { kind: 'resend', audience: origin.id, userId, destination }
}

/** The tombstone that marks a dead letter as replayed. */
export const replayedTombstone = ({ key, partition }: LogRecord): OutgoingRecord => ({
  key,
  value: null,
  headers: {},
  // The tombstone replaces the dead letter only if both are in the same partition.
  partition,
})

/** Header of a replayed event with its position and timestamp before the first replay. */
const replayOfHeader = 'replay-of'
const replayOfPattern = /^([\w.-]{1,249})\/(\d{1,10})\/(\d{1,15})\/(-1|\d{1,15})$/

const toReplayOf = ({ topic, partition, offset, timestamp }: Origin): string =>
  `${topic}/${partition}/${offset}/${timestamp}`

/**
 * The position and timestamp of an event's original record, before any replay. If the producer
 * wrote no message id or time, Hookline derives them from this origin, so that all replayed copies
 * have the same ones.
 */
export function firstOrigin(record: LogRecord): Origin {
  const header = record.headers[replayOfHeader]
  if (header === undefined) return record
  const [, topic, partition, offset, timestamp] = replayOfPattern.exec(header) ?? []
  if (topic === undefined) return record
  return { topic, partition: Number(partition), offset: Number(offset), timestamp: epochMs(Number(timestamp)) }
}
