import type { RecordedAttempt } from '../delivery/attempt-record.ts'
import { isoOf } from '../message/timestamp.ts'
import type { FoundCopy, FoundDeadLetter, FoundEvent, FoundPieces } from './found-pieces.ts'

export const timelineStates = ['delivered', 'waiting', 'dead_lettered', 'dropped', 'unknown'] as const
export type TimelineState = (typeof timelineStates)[number]

/**
 * Why a state is `unknown`.
 * - `search_incomplete`: a topic was not read as far back as the message can reach.
 * - `offsets_unknown`: Kafka did not report the committed offsets.
 * - `attempts_not_recorded`: `delivery.attemptsTopic` is `off`.
 * - `attempts_removed`: retention may have removed attempt records that are as old as the event.
 * - `record_missing`: the last record announces a retry, a dead letter or a success that was not
 *   found. A record can be missing under load, or the dead letter was replayed or removed.
 */
export const unknownCauses = [
  'search_incomplete',
  'offsets_unknown',
  'attempts_not_recorded',
  'attempts_removed',
  'record_missing',
] as const
export type UnknownCause = (typeof unknownCauses)[number]

/** One request of an attempt, or an attempt that sent none. */
export interface TimelineAttempt {
  readonly at: string
  /** 1 for the first attempt. */
  readonly number: number
  /** `not_sent` when the attempt sent no request. */
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
  /** Why it waits, was dead-lettered or dropped; for `unknown`, an `UnknownCause`. */
  readonly reason?: string | undefined
  /**
   * Present when no record contains the state. The state is then inferred from committed offsets and
   * the absence of failures, or from the routes of the current configuration.
   */
  readonly inferred?: true | undefined
  /** Oldest first. */
  readonly attempts: readonly TimelineAttempt[]
  readonly waiting?: { readonly tier: string; readonly dueAt: string } | undefined
  readonly deadLetterKey?: string | undefined
}

/** The pieces about one destination; `events` has all events of the message. */
export type FoundForDestination = Pick<
  FoundPieces,
  'attempts' | 'copies' | 'deadLetters' | 'events' | 'isComplete' | 'recorded'
>

type State = Omit<DestinationTimeline, 'id' | 'attempts'>

/** Joins the pieces about one destination. */
export function timelineOfDestination(id: string, found: FoundForDestination): DestinationTimeline {
  const attempts = distinct(found.attempts).toSorted(inOrder)
  return { id, ...stateOf(id, { ...found, attempts }), attempts: attempts.flatMap(shownAttempts) }
}

/** A record can be written twice: its producer retries, and a process that crashes repeats work. */
function distinct(attempts: readonly RecordedAttempt[]): readonly RecordedAttempt[] {
  return [...new Map(attempts.map(each => [`${each.at}/${each.attempt}/${each.kind}/${chainOf(each)}`, each])).values()]
}

/** A delivery of one event: a message id that is used twice has two. */
const chainOf = ({ origin, round }: Pick<RecordedAttempt, 'origin' | 'round'>): string =>
  `${origin?.topic}/${origin?.partition}/${origin?.offset}/${round ?? 0}`

const inOrder = (a: RecordedAttempt, b: RecordedAttempt): number =>
  a.at - b.at || (a.round ?? 0) - (b.round ?? 0) || a.attempt - b.attempt

function stateOf(id: string, found: FoundForDestination): State {
  const { attempts, copies, deadLetters } = found
  const deadLetter = deadLetters.toSorted((a, b) => b.at - a.at || b.round - a.round)[0]
  const copy = copies.filter(each => !isPast(each, attempts)).toSorted(latestFirst)[0]
  const last = attempts.at(-1)
  if (deadLetter !== undefined && !isSentAgain(deadLetter, copy, last)) return deadLettered(deadLetter)
  if (copy !== undefined) return waitingIn(copy)
  if (last !== undefined) return stateAfter(last, found)
  return stateWithoutRecords(id, found)
}

/**
 * Whether a delivery is newer than a dead letter: of a replay whose tombstone is not written yet, or
 * of a resend, which leaves the dead letter.
 */
const isSentAgain = (
  { round, at }: FoundDeadLetter,
  copy: FoundCopy | undefined,
  last: RecordedAttempt | undefined,
): boolean =>
  (copy !== undefined && (copy.state.round > round || copy.state.startedAt > at)) ||
  (last?.decision === 'delivered' && last.at > at)

const deadLettered = ({ reason, key }: FoundDeadLetter): State => ({
  state: 'dead_lettered',
  reason,
  deadLetterKey: key,
})

const waitingIn = ({ state, tier, dueAt }: FoundCopy): State => ({
  state: 'waiting',
  ...(state.reason !== '' && { reason: state.reason }),
  waiting: { tier, dueAt: isoOf(dueAt) },
})

const latestFirst = (a: FoundCopy, b: FoundCopy): number =>
  b.state.round - a.state.round || b.state.attempt - a.state.attempt || b.at - a.at

const isFinal = ({ decision }: RecordedAttempt): boolean => decision !== 'retried' && decision !== 'deferred'

/** Whether a later record of the same delivery ends it: then the copy was not committed yet. */
const isPast = ({ state }: FoundCopy, attempts: readonly RecordedAttempt[]): boolean =>
  attempts.some(
    each =>
      isFinal(each) &&
      chainOf(each) === chainOf(state) &&
      each.attempt >= state.attempt &&
      // A message that is resent again has the same round.
      each.at >= state.startedAt,
  )

/** The state when a destination has records, but no copy waits and no dead letter is live. */
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
  const isSearched = isComplete.copies && isComplete.deadLetters && isComplete.attempts
  return unknown(isSearched ? 'record_missing' : 'search_incomplete')
}

/** The state when nothing was found for a destination but the event. */
function stateWithoutRecords(id: string, { events, isComplete, recorded }: FoundForDestination): State {
  const newest = events.toSorted((a, b) => b.at - a.at || b.offset - a.offset)[0] as FoundEvent
  const { progress, drops, isOlderThanAttempts } = newest
  if (progress === undefined) return unknown('offsets_unknown')
  if (progress !== 'done' && !progress.includes(id)) return { state: 'waiting' }
  const reason = drops.get(id)
  if (reason !== undefined) return { state: 'dropped', reason, inferred: true }
  if (!(isComplete.copies && isComplete.deadLetters && isComplete.attempts)) return unknown('search_incomplete')
  if (recorded === 'off') return unknown('attempts_not_recorded')
  if (isOlderThanAttempts) return unknown('attempts_removed')
  // With `all`, the record of the success is missing.
  return recorded === 'all' ? unknown('record_missing') : { state: 'delivered', inferred: true }
}

const unknown = (reason: UnknownCause): State => ({ state: 'unknown', reason })

/**
 * Returns one entry for each request of an attempt, or the entry `not_sent` for an attempt without
 * requests. It returns none for a delivery that ended without an attempt (`kind: 'result'`).
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
