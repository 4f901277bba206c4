import { initialState, retryRecord } from '../delivery/delivery-state.ts'
import { firstOrigin } from '../delivery/replay-decision.ts'
import { type RetryPolicy, tierFor } from '../delivery/retry-tier.ts'
import { createRouting, type Routing, route } from '../delivery/route.ts'
import { type Event, normaliseEvent } from '../message/event.ts'
import { messageIdAt } from '../message/message-ids-and-required-identifiers.ts'
import { isOwnSource } from '../message/own-event-builder-and-source-ids.ts'
import type { LogRecord, OutgoingRecord } from '../ports.ts'
import { windowOf } from '../settings/effective-policy.ts'
import type { Destination } from '../settings/settings.ts'
import { durationMs, type EpochMs } from '../time.ts'
import type { TopicNames } from '../topics.ts'
import type { ResendJob } from './job.ts'

/** Why an event is not resent. */
export type ResendSkip =
  /** A replay wrote the record as a copy, and the job has read the original. */
  | 'copy'
  /**
   * Hookline itself made the event: a canary message, notice, audience change or delete message.
   */
  | 'own_event'
  | 'other_type'
  | 'other_user'
  /** The user was deleted or is suppressed. */
  | 'stopped_user'
  /**
   * The source is not connected to the destination, or the destination's filter or the event's own
   * `integrations` exclude the event.
   */
  | 'not_routed'
  | 'invalid_message'

export interface ResendContext {
  readonly topics: Pick<TopicNames, 'retry'>
  readonly policy: Pick<RetryPolicy, 'window' | 'tiers'>
  readonly destination: Destination
  /** The routing with only the destination of the job (see `routingOf`). */
  readonly routing: Routing
  /** Whether the user of an event was deleted or is suppressed. */
  readonly isStopped: (event: Event) => boolean
  readonly now: EpochMs
}

export type Resend =
  | { readonly kind: 'copy'; readonly topic: string; readonly copy: OutgoingRecord }
  | { readonly kind: 'skip'; readonly reason: ResendSkip }

/**
 * Returns the routing with only this destination, so that `route` applies only the filter of this
 * destination to each event.
 */
export const routingOf = (destination: Destination, { sources }: Routing): Routing =>
  createRouting({ sources: [...sources.values()], destinations: [destination] })

/**
 * Whether the record is a replay's copy whose original the job has also read.
 *
 * @param readFrom for each partition, the offset from which the job has read
 */
export function isCopyOfRead(record: LogRecord, readFrom: readonly number[]): boolean {
  const { topic, partition, offset } = firstOrigin(record)
  const isInSamePartition = topic === record.topic && partition === record.partition
  return isInSamePartition && offset < record.offset && offset >= (readFrom[partition] ?? Number.POSITIVE_INFINITY)
}

/**
 * Decides whether an event is resent to a destination, as a copy with the same message id and a new
 * retry window.
 */
export function resendOf(
  record: LogRecord,
  given: Event,
  { types, userIds }: Pick<ResendJob, 'types' | 'userIds'>,
  { topics, policy, destination, routing, isStopped, now }: ResendContext,
): Resend {
  if (isOwnSource(given.sourceId) || given.origin !== undefined || given.message.type === 'delete')
    return skip('own_event')
  const first = firstOrigin(record)
  const event = given.canonical ? given : normalised(given, messageIdAt(first))
  if (event === undefined) return skip('invalid_message')
  const { type, userId, messageId } = event.message
  if (types !== undefined && !types.some(each => each === type)) return skip('other_type')
  if (userIds !== undefined && (userId === undefined || !userIds.includes(userId))) return skip('other_user')
  const routed = route(event, routing)
  if (routed.kind !== 'deliver' || routed.destinations.length === 0) return skip('not_routed')
  if (isStopped(event)) return skip('stopped_user')
  const { topic, partition, offset } = record
  const state = initialState(
    { topic, partition, offset, timestamp: first.timestamp },
    destination.id,
    messageId,
    now,
    windowOf(destination.policy, policy),
  )
  return {
    kind: 'copy',
    topic: topics.retry(tierFor(durationMs(0), policy.tiers)),
    // `round: 1` excludes the copy from the metric `hookline_first_attempt_delay_seconds`.
    copy: retryRecord(record, { ...state, round: 1 }),
  }
}

const skip = (reason: ResendSkip): Resend => ({ kind: 'skip', reason })

/**
 * Normalises an event that another program wrote. `messageId` must be the id that the dispatcher
 * computes for the same record.
 */
function normalised(event: Event, messageId: string): Event | undefined {
  const outcome = normaliseEvent(event, () => messageId)
  return outcome.kind === 'event' ? outcome.event : undefined
}
