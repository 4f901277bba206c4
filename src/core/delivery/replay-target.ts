import type { Event } from '../message/event.ts'
import type { LogRecord, OutgoingRecord } from '../ports.ts'
import type { TopicNames } from '../topics.ts'
import { durationMs, type EpochMs, epochMs } from '../units.ts'
import type { DeadLetter } from './dead-letter.ts'
import { originalOf } from './dead-letter-record.ts'
import { initialState, type Origin, parseDeliveryState, retryRecord } from './delivery-state.ts'
import type { DeadLetterReason } from './outcome.ts'
import { isConnected, type Routing, routeParked } from './route.ts'
import { type RetryPolicy, tierFor } from './schedule.ts'

/** Why a dead letter stays where it is. */
export const replayRefusals = ['unknown_destination', 'disabled', 'not_connected', 'truncated', 'unreadable'] as const
export type ReplayRefusal = (typeof replayRefusals)[number]

/** The audience input (`core/audience/input.ts`) that asks for the membership's current value. */
interface ResendInput {
  readonly kind: 'resend'
  readonly audience: string
  readonly userId: string
  readonly destination: string
}

/** What a dead letter becomes when it goes back. */
export type ReplayTarget =
  /** A delivery starts over, on the first retry tier and for the destination that it was meant for only. */
  | { readonly kind: 'delivery'; readonly topic: string; readonly copy: OutgoingRecord }
  /** An event that never became a delivery goes back to where it stood, as it was. */
  | { readonly kind: 'event'; readonly topic: string; readonly copy: OutgoingRecord }
  /** What an audience said then may be wrong by now: it says anew what holds. */
  | { readonly kind: 'resend'; readonly input: ResendInput }
  /** It would only be given up again, or dropped, or nobody knows what it was. */
  | { readonly kind: 'refused'; readonly reason: ReplayRefusal }

/** What a replay goes by. */
export interface ReplayContext {
  readonly topics: TopicNames
  readonly routing: Routing
  readonly policy: Pick<RetryPolicy, 'window' | 'tiers'>
  /** A delivery is replayed although its source is no longer connected to its destination. */
  readonly evenDisconnected?: boolean
}

/** Reasons that also stand on events which never became a delivery. */
const beforeDelivery: ReadonlySet<string> = new Set<DeadLetterReason>([
  'undecodable',
  'invalid_message',
  'unknown_source',
  'unknown_destination',
])

/** Decides how a dead letter is replayed. `event`: the event of a delivery; undefined when its bytes cannot be decoded. */
export function replayTargetOf(
  record: LogRecord,
  deadLetter: DeadLetter,
  { topics, routing, policy, evenDisconnected = false }: ReplayContext,
  now: EpochMs,
  event?: Event,
): ReplayTarget {
  const routed = deadLetter.destination === undefined ? undefined : routeParked(deadLetter.destination, routing)
  if (routed !== undefined && routed.kind !== 'deliver') return { kind: 'refused', reason: routed.reason }
  if (deadLetter.originalLength !== undefined) return { kind: 'refused', reason: 'truncated' }
  const input = resendOf(event)
  if (input !== undefined) return { kind: 'resend', input }

  const original = originalOf(record)
  const given = parseDeliveryState(record.headers)
  if (given !== undefined) {
    const { origin, destination, messageId } = given
    // A dead letter lives for 30 days: by then its destination's id may be that of somebody else's endpoint.
    if (event !== undefined && !evenDisconnected && !isConnected(event.sourceId, destination, routing))
      return { kind: 'refused', reason: 'not_connected' }
    const carried = { ...initialState(origin, destination, messageId, now, policy.window), round: given.round + 1 }
    const topic = topics.retry(tierFor(durationMs(0), policy.tiers))
    const copy = retryRecord({ ...record, ...original }, carried)
    return { kind: 'delivery', topic, copy }
  }
  const { origin, reason } = deadLetter
  // Of a record in a retry topic that was not ours nobody knows for whom it was: there it would be refused again.
  if (origin?.topic !== topics.events || origin.partition < 0 || !beforeDelivery.has(reason))
    return { kind: 'refused', reason: 'unreadable' }
  // One that was replayed before keeps what it has.
  const headers = { [replayOfHeader]: toReplayOf(origin), ...original.headers }
  return { kind: 'event', topic: topics.events, copy: { ...original, headers, partition: origin.partition } }
}

/** What tells an audience to send anew what a destination has to know of a user. */
function resendOf(event: Event | undefined): ResendInput | undefined {
  const { origin, destinationId: destination, message } = event ?? {}
  const userId = message?.userId
  if (origin?.kind !== 'audience' || destination === undefined || userId === undefined) return undefined
  return { kind: 'resend', audience: origin.id, userId, destination }
}

/** Says of a dead letter that it was put back. */
export const replayedTombstone = ({ key, partition }: LogRecord): OutgoingRecord => ({
  key,
  value: null,
  headers: {},
  // In any other partition it would say nothing about the record.
  partition,
})

/** On events that were put back: where and when they first stood. */
const replayOfHeader = 'replay-of'
const replayOfPattern = /^([\w.-]{1,249})\/(\d{1,10})\/(\d{1,15})\/(-1|\d{1,15})$/

const toReplayOf = ({ topic, partition, offset, timestamp }: Origin): string =>
  `${topic}/${partition}/${offset}/${timestamp}`

/**
 * Where and when an event first stood on its topic. What a foreign producer left out, id or time, is made of this: so it is
 * the same for every copy that replays put there, also for two of which one was put by a replay that died half-way.
 */
export function firstStood(record: LogRecord): Origin {
  const header = record.headers[replayOfHeader]
  if (header === undefined) return record
  const [, topic, partition, offset, timestamp] = replayOfPattern.exec(header) ?? []
  if (topic === undefined) return record
  return { topic, partition: Number(partition), offset: Number(offset), timestamp: epochMs(Number(timestamp)) }
}
