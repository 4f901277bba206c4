import type { RecordedAttempt } from '../delivery/attempt-details-and-recording-rule.ts'
import { isoOf } from '../message/timestamp.ts'
import type { FoundDeadLetter, FoundEvent, FoundRetryRecord, TimelineInput } from './message-timeline-input.ts'

export const timelineStates = ['delivered', 'waiting', 'dead_lettered', 'dropped', 'unknown'] as const
export type TimelineState = (typeof timelineStates)[number]

/**
 * Why a state is unknown:
 * - `search_incomplete`: a topic was not read far enough back.
 * - `attempts_removed`: retention may have removed the attempt records.
 * - `record_missing`: an expected record is absent, for example because a dead letter was replayed.
 */
export const unknownCauses = [
  'search_incomplete',
  'offsets_unknown',
  'attempts_not_recorded',
  'attempts_removed',
  'record_missing',
] as const
export type UnknownCause = (typeof unknownCauses)[number]

/** One request of an attempt, or an attempt that sent no request. */
export interface TimelineAttempt {
  readonly at: string
  /** The number of the attempt; 1 for the first one. */
  readonly number: number
  /** The outcome of the request; `not_sent` when the attempt sent none. */
  readonly outcome: string
  readonly status?: number | undefined
  readonly durationMs: number
  readonly decision: string
  readonly reason?: string | undefined
  readonly webhook?: string | undefined
  /** When the next attempt was due. */
  readonly dueAt?: string | undefined
}

export interface DestinationTimeline {
  readonly id: string
  readonly state: TimelineState
  /** Why the delivery waits, or was dead-lettered or dropped. For `unknown`: an `UnknownCause`. */
  readonly reason?: string | undefined
  /**
   * Present if the state is inferred from the committed offsets or from the current routes, because
   * no record contains the state.
   */
  readonly inferred?: true | undefined
  /** The attempts of the delivery, oldest first. */
  readonly attempts: readonly TimelineAttempt[]
  readonly waiting?: { readonly tier: string; readonly dueAt: string } | undefined
  readonly deadLetterKey?: string | undefined
}

/** The records that were found for one destination. `events` has all events of the message. */
export interface FoundForDestination
  extends Pick<TimelineInput, 'attempts' | 'retryRecords' | 'deadLetters' | 'events' | 'isComplete' | 'recorded'> {
  /**
   * Retry records and dead letters that name no destination, because the source or destination of
   * the event was not configured.
   */
  readonly unrouted: Pick<TimelineInput, 'retryRecords' | 'deadLetters'>
}

type State = Omit<DestinationTimeline, 'id' | 'attempts'>

export function timelineOfDestination(id: string, found: FoundForDestination): DestinationTimeline {
  const attempts = distinct(found.attempts).toSorted(inOrder)
  return { id, ...stateOf(id, { ...found, attempts }), attempts: attempts.flatMap(shownAttempts) }
}

/**
 * Removes duplicate attempt records: the producer may write a record again when it retries a
 * request.
 */
function distinct(attempts: readonly RecordedAttempt[]): readonly RecordedAttempt[] {
  const keyOf = (each: RecordedAttempt) => `${each.at}/${each.attempt}/${each.kind}/${deliveryKeyOf(each)}`
  return [...new Map(attempts.map(each => [keyOf(each), each])).values()]
}

/**
 * Identifies one delivery by its event and number of replays. The message id is not enough, because
 * a sender may use it for two events.
 */
const deliveryKeyOf = ({ origin, round }: Pick<RecordedAttempt, 'origin' | 'round'>): string =>
  `${origin?.topic}/${origin?.partition}/${origin?.offset}/${round ?? 0}`

const inOrder = (a: RecordedAttempt, b: RecordedAttempt): number =>
  a.at - b.at || (a.round ?? 0) - (b.round ?? 0) || a.attempt - b.attempt

function stateOf(id: string, found: FoundForDestination): State {
  const { attempts, retryRecords, deadLetters } = found
  const deadLetter = deadLetters.toSorted((a, b) => b.at - a.at || b.round - a.round)[0]
  const retryRecord = retryRecords.filter(each => !hasEnded(each, attempts)).toSorted(latestFirst)[0]
  const last = attempts.at(-1)
  if (deadLetter !== undefined && !isSentAgain(deadLetter, retryRecord, last)) return deadLettered(deadLetter)
  if (retryRecord !== undefined) return waitingIn(retryRecord)
  if (last !== undefined) return stateAfter(last, found)
  return stateWithoutRecords(id, found)
}

/**
 * Whether the message was sent again after it was dead-lettered. Even then, the dead letter may
 * still be in the topic: a replay writes the tombstone last, and a resend writes no tombstone.
 */
const isSentAgain = (
  { round, at }: FoundDeadLetter,
  retryRecord: FoundRetryRecord | undefined,
  last: RecordedAttempt | undefined,
): boolean =>
  (retryRecord !== undefined && (retryRecord.state.round > round || retryRecord.state.startedAt > at)) ||
  (last?.decision === 'delivered' && last.at > at)

const deadLettered = ({ reason, key }: FoundDeadLetter): State => ({
  state: 'dead_lettered',
  reason,
  deadLetterKey: key,
})

const waitingIn = ({ state, tier, dueAt }: FoundRetryRecord): State => ({
  state: 'waiting',
  ...(state.reason !== '' && { reason: state.reason }),
  waiting: { tier, dueAt: isoOf(dueAt) },
})

const latestFirst = (a: FoundRetryRecord, b: FoundRetryRecord): number =>
  b.state.round - a.state.round || b.state.attempt - a.state.attempt || b.at - a.at

const isFinal = ({ decision }: RecordedAttempt): boolean => decision !== 'retried' && decision !== 'deferred'

/**
 * Whether the delivery of a retry record has ended. Even then, the search finds the record until
 * its offset is committed.
 */
const hasEnded = ({ state }: FoundRetryRecord, attempts: readonly RecordedAttempt[]): boolean =>
  attempts.some(
    each =>
      isFinal(each) &&
      deliveryKeyOf(each) === deliveryKeyOf(state) &&
      each.attempt >= state.attempt &&
      // Two resends of a message have the same number of replays (`round`). Only the start time
      // distinguishes the resends.
      each.at >= state.startedAt,
  )

/**
 * Infers the state from the last attempt record, if the delivery neither waits nor is
 * dead-lettered.
 */
function stateAfter({ decision, reason, ...last }: RecordedAttempt, { isComplete }: FoundForDestination): State {
  if (decision === 'delivered') return { state: 'delivered' }
  if (decision === 'dropped') return { state: 'dropped', ...(reason !== undefined && { reason }) }
  if (decision === 'dead_lettered' && !isComplete.deadLetters) {
    const { origin, round = 0, destination } = last
    const place = origin && `${origin.topic}/${origin.partition}/${origin.offset}/${origin.timestamp}`
    return {
      state: 'dead_lettered',
      ...(reason !== undefined && { reason }),
      ...(place !== undefined && { deadLetterKey: `${destination}/${place}/${round}` }),
    }
  }
  const isSearched = isComplete.retryRecords && isComplete.deadLetters && isComplete.attempts
  return unknown(isSearched ? 'record_missing' : 'search_incomplete')
}

/**
 * The state of a destination for which only the event was found, and perhaps records that name no
 * destination.
 */
function stateWithoutRecords(id: string, { events, unrouted, isComplete, recorded }: FoundForDestination): State {
  const newest = events.toSorted((a, b) => b.at - a.at || b.offset - a.offset)[0] as FoundEvent
  // Records older than `newest` belong to an earlier event with the same message id.
  const isOfNewest = ({ at }: FoundRetryRecord | FoundDeadLetter): boolean => at >= newest.at
  const deadLetter = unrouted.deadLetters.find(isOfNewest)
  if (deadLetter !== undefined) return deadLettered(deadLetter)
  const retryRecord = unrouted.retryRecords.find(isOfNewest)
  if (retryRecord !== undefined) return waitingIn(retryRecord)
  const { progress, drops, isOlderThanAttempts } = newest
  if (progress === undefined) return unknown('offsets_unknown')
  if (progress !== 'done' && !progress.includes(id)) return { state: 'waiting' }
  const reason = drops.get(id)
  if (reason !== undefined) return { state: 'dropped', reason, inferred: true }
  if (!(isComplete.retryRecords && isComplete.deadLetters && isComplete.attempts)) return unknown('search_incomplete')
  if (recorded === 'off') return unknown('attempts_not_recorded')
  if (isOlderThanAttempts) return unknown('attempts_removed')
  // Unless `recorded` is `all`, a first attempt that succeeds has no attempt record.
  return recorded === 'all' ? unknown('record_missing') : { state: 'delivered', inferred: true }
}

const unknown = (reason: UnknownCause): State => ({ state: 'unknown', reason })

/**
 * Returns one entry for each request of an attempt, or one entry `not_sent` for an attempt without
 * requests. Returns none if the delivery ended without an attempt.
 */
export function shownAttempts(record: RecordedAttempt): readonly TimelineAttempt[] {
  const { at, attempt, elapsedMs, decision, reason, outcomes, statuses = {}, dueAt, kind } = record
  if (kind === 'result') return []
  const common = {
    ...{ at: isoOf(at), number: attempt, durationMs: elapsedMs, decision },
    ...(reason !== undefined && { reason }),
    ...(dueAt !== undefined && { dueAt }),
  }
  const requests = Object.entries(outcomes)
  if (requests.length === 0) return [{ ...common, outcome: 'not_sent' }]
  return requests.map(([webhook, outcome]) => {
    const status = Object.hasOwn(statuses, webhook) ? statuses[webhook] : undefined
    return { ...common, webhook, outcome, ...(status !== undefined && { status }) }
  })
}
