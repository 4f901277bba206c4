import { defaultSuppressionRetention } from '../default-suppression-retention.ts'
import { flowLimits } from '../flow/flow-control-constants.ts'
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
/**
 * Why a dead letter is not replayed. `too_large`: the record to write is larger than its topic
 * allows.
 */
export const replayRefusals = [...decidedRefusals, 'too_large'] as const
export type ReplayRefusal = (typeof replayRefusals)[number]

/**
 * The record that makes an audience (a synced list of users) send a user's current value to a
 * destination again.
 */
interface ResendInput {
  readonly kind: 'resend'
  readonly audience: string
  readonly userId: string
  readonly destination: string
}

/** What a replay does with a dead letter. */
export type ReplayTarget =
  /**
   * Starts the delivery again, only to the destination of the dead letter and with a new retry
   * window.
   */
  | { readonly kind: 'delivery'; readonly topic: string; readonly copy: OutgoingRecord }
  /**
   * Writes the unchanged event to the events topic again. The event was dead-lettered before it
   * became a delivery.
   */
  | { readonly kind: 'event'; readonly topic: string; readonly copy: OutgoingRecord }
  /**
   * Makes the audience send its current value for the user, because the dead letter may be
   * outdated.
   */
  | { readonly kind: 'resend'; readonly input: ResendInput }
  | { readonly kind: 'refused'; readonly reason: (typeof decidedRefusals)[number] }

export interface ReplayContext {
  readonly topics: TopicNames
  readonly routing: Routing
  readonly policy: Pick<RetryPolicy, 'window' | 'tiers'>
  /**
   * Whether to replay a delivery whose source is unknown or no longer connected to the destination.
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

/** Decides how a dead letter is replayed. `event` is `undefined` when it cannot be decoded. */
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
    // The destination id may now belong to another customer, so the event's source must still be
    // connected to the destination.
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
  // The event is replayed only if its origin is in the events topic and the reason is one of
  // `beforeDelivery`. Otherwise, the replayed event would be dead-lettered again.
  if (origin?.topic !== topics.events || origin.partition < 0 || !beforeDelivery.has(reason))
    return { kind: 'refused', reason: 'unreadable' }
  // A `replay-of` header of an earlier replay is kept, because the message id may be derived from
  // it.
  const headers = { [replayOfHeader]: toReplayOf(origin), ...original.headers }
  return { kind: 'event', topic: topics.events, copy: { ...original, headers, partition: origin.partition } }
}

/**
 * Whether the suppression of the deleted user may expire before the replayed delivery ends. Without
 * the suppression, the dispatcher treats a delete message as forged.
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

/** Header of a replayed event: the position and timestamp of the record before the first replay. */
const replayOfHeader = 'replay-of'
const replayOfPattern = /^([\w.-]{1,249})\/(\d{1,10})\/(\d{1,15})\/(-1|\d{1,15})$/

const toReplayOf = ({ topic, partition, offset, timestamp }: Origin): string =>
  `${topic}/${partition}/${offset}/${timestamp}`

/**
 * The position and timestamp of an event's original record, from which Hookline derives a missing
 * message id or time.
 */
export function firstOrigin(record: LogRecord): Origin {
  const header = record.headers[replayOfHeader]
  if (header === undefined) return record
  const [, topic, partition, offset, timestamp] = replayOfPattern.exec(header) ?? []
  if (topic === undefined) return record
  return { topic, partition: Number(partition), offset: Number(offset), timestamp: epochMs(Number(timestamp)) }
}
