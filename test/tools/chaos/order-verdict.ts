import type { Injected } from './delivery-verdict.ts'
import { type Call, statusOf, targetOf } from './message-ledger.ts'

/** Position of a message on the events topic: that of its first record, if there are several. */
export interface Place {
  readonly partition: number
  readonly offset: number
  /** Key of the record, which is the user id. */
  readonly key: string
  readonly copies: number
  /** When the first record with this message id was written, in ms of `performance.now()`. */
  readonly writtenAt?: number
}

export interface OrderEvidence {
  /** Positions by message id. */
  readonly places: ReadonlyMap<string, Place>
  readonly destinations: readonly string[]
  /** In order of arrival. */
  readonly calls: readonly Call[]
  /** All records that were written to a retry topic, by `<destination> <message id>`. */
  readonly retried: ReadonlyMap<string, Pick<RetryRecords, 'minAttempts' | 'maxAttempts'>>
  readonly injected: readonly Injected[]
  /** Multiplies every tolerance, for a busy machine. */
  readonly patience: number
}

export interface RetryRecords {
  /** The smallest and the largest number of attempts (header `attempt`) of these records. */
  readonly minAttempts: number
  readonly maxAttempts: number
  /** When each record was written, in ms of `performance.now()`. */
  readonly writtenAt: readonly number[]
}

export interface OrderFindings {
  /** Number of judged pairs: two consecutive messages of one user at one destination. */
  readonly pairs: number
  /**
   * Number of all pairs. A pair with a message that was deferred before its first attempt is not
   * judged.
   */
  readonly possible: number
  readonly reversed: readonly string[]
}

const usualShare = 0.8
/**
 * Tolerance in ms: Hookline may begin its next request before the receiver sees the end of the
 * previous request.
 */
const seenLateMs = 50
/** Tolerance for the delay of a signal on a busy machine, in ms. */
export const signalMs = 250

/**
 * Per user and destination, a message's first attempt must start after the previous message's first
 * attempt has ended. Messages deferred before any attempt are excluded.
 */
export function judgeOrder(evidence: OrderEvidence): OrderFindings {
  const { places, destinations, retried, patience } = evidence
  const { firsts, counts } = requestsByTarget(evidence)
  // Excludes messages that were deferred before their first attempt, and messages with a missing
  // request: the missing request may be the first attempt.
  const isMoved = (target: string): boolean => {
    const { minAttempts, maxAttempts } = retried.get(target) ?? { minAttempts: 1, maxAttempts: 0 }
    return minAttempts === 0 || (counts.get(target) ?? 0) <= maxAttempts
  }
  const ofUsers = Map.groupBy(places, ([, { partition, key }]) => `${partition} ${key}`)
  const reversed: string[] = []
  let pairs = 0
  let possible = 0
  for (const own of ofUsers.values()) {
    const ids = own.toSorted(([, a], [, b]) => a.offset - b.offset).map(([id]) => id)
    possible += (ids.length - 1) * destinations.length
    for (const destination of destinations) {
      let before: Call | undefined
      for (const id of ids) {
        const target = targetOf({ id, destination })
        const call = firsts.get(target)
        if (call === undefined || isMoved(target)) continue
        if (before !== undefined) {
          pairs++
          if (endOf(before, patience) > call.at)
            reversed.push(`${target} by ${call.process}, before ${before.id} by ${before.process} had ended`)
        }
        if (before === undefined || call.at > before.at) before = call
      }
    }
  }
  return { pairs, possible, reversed }
}

/**
 * `firsts`: the first request of each target. If its process was killed or frozen during the
 * request, a later request by another process replaces it. `counts`: number of requests.
 */
function requestsByTarget({ calls, injected, patience }: OrderEvidence) {
  const isInterrupted = ({ process, at, endedAt = Number.POSITIVE_INFINITY }: Call): boolean =>
    injected.some(
      ({ victims, at: faultAt, victimsAt = faultAt }) =>
        victims.includes(process) && at <= victimsAt + signalMs * patience && endedAt > victimsAt,
    )
  const firsts = new Map<string, Call>()
  const counts = new Map<string, number>()
  for (const call of calls) {
    const target = targetOf(call)
    counts.set(target, (counts.get(target) ?? 0) + 1)
    const first = firsts.get(target)
    if (first === undefined || (first.process !== call.process && isInterrupted(first))) firsts.set(target, call)
  }
  return { firsts, counts }
}

/** Returns a failure if the order of too few pairs was judged. */
export function failuresOfPairs(
  { pairs, possible }: Pick<OrderFindings, 'pairs' | 'possible'>,
  share = usualShare,
): readonly string[] {
  if (pairs === 0) return ['no two messages of one user, so order cannot be judged']
  const percent = (part: number): string => `${Math.floor(part * 100)} %`
  return pairs < share * possible
    ? [`order judged for ${pairs} of ${possible} pairs, ${percent(pairs / possible)}, minimum ${percent(share)}`]
    : []
}

function endOf({ answer, endedAt = Number.POSITIVE_INFINITY }: Call, patience: number): number {
  const isWhole = answer !== 'half' && statusOf(answer) !== undefined
  return isWhole ? endedAt : endedAt - seenLateMs * patience
}
