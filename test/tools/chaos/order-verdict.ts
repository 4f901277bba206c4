import type { Injected } from './delivery-verdict.ts'
import { type Call, statusOf, targetOf } from './message-ledger.ts'

/**
 * Position of a message on the events topic. If the topic has several copies of the message, it is
 * the position of the first copy.
 */
export interface Place {
  readonly partition: number
  readonly offset: number
  /** Key of the record, which is the user id. */
  readonly key: string
  /** Number of records with this message id. */
  readonly copies: number
  /**
   * When the first record with this message id was written, in milliseconds on the scale of
   * `performance.now()`.
   */
  readonly writtenAt?: number
}

export interface OrderEvidence {
  /** Positions by message id. */
  readonly places: ReadonlyMap<string, Place>
  readonly destinations: readonly string[]
  /** Requests in the order in which they arrived. */
  readonly calls: readonly Call[]
  /** All records that were written to a retry topic, by `<destination> <message id>`. */
  readonly retried: ReadonlyMap<string, Pick<RetryRecords, 'minAttempts' | 'maxAttempts'>>
  readonly injected: readonly Injected[]
  /** Factor by which every tolerance is multiplied, for a busy machine. */
  readonly patience: number
}

/** The records that were written to retry topics for one message and one destination. */
export interface RetryRecords {
  /**
   * The smallest and the largest header `attempt` of these records. The header is the number of
   * attempts before the record was written.
   */
  readonly minAttempts: number
  readonly maxAttempts: number
  /** When each record was written, in milliseconds on the scale of `performance.now()`. */
  readonly writtenAt: readonly number[]
}

export interface OrderFindings {
  /** Number of judged pairs: two consecutive messages of one user at one destination. */
  readonly pairs: number
  /**
   * Number of all pairs, judged or not. A pair is not judged if one of its messages was moved to a
   * retry topic before its first attempt.
   */
  readonly possible: number
  readonly reversed: readonly string[]
}

const usualShare = 0.8
/**
 * Tolerance for the end of a request, in milliseconds. Hookline may begin its next request before
 * the receiver sees the end of the previous one. This happens after a timeout, or after a response
 * of which Hookline needs only the head.
 */
const seenLateMs = 50
/** Tolerance for the delay of a signal on a busy machine, in milliseconds. */
export const signalMs = 250

/**
 * Judges the order per user and destination: the first attempt of a message must start after the
 * first attempt of the previous message has ended. Messages that were moved to a retry topic before
 * any attempt are excluded.
 */
export function judgeOrder(evidence: OrderEvidence): OrderFindings {
  const { places, destinations, retried, patience } = evidence
  const { firsts, counts } = requestsByTarget(evidence)
  // Whether to exclude the message from the check of the order. There are two cases. In the first,
  // the message was deferred before its first attempt. In the second, fewer requests arrived at the
  // receiver than Hookline made, so the first request that arrived may not be that of the first
  // attempt.
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
 * Returns two maps by target: the request of the first attempt of each message (`firsts`), and the
 * number of requests of each message (`counts`). Normally, the first request is the request of the
 * first attempt. But a process may be killed or frozen while it makes the first request, and
 * another process may then repeat the request. In this case, the repeated request counts as the
 * first attempt: the new owner of the partition cannot know when the interrupted request ends, so
 * it cannot wait for this end.
 */
function requestsByTarget({ calls, injected, patience }: OrderEvidence) {
  const isInterrupted = ({ process, at, endedAt = Number.POSITIVE_INFINITY }: Call): boolean =>
    injected.some(hit => hit.victims.includes(process) && at <= hit.at + signalMs * patience && endedAt > hit.at)
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

/**
 * Judges whether enough pairs were judged. If Hookline deferred every message before its first
 * attempt, no order could be judged. So the share of judged pairs has a minimum (`share`).
 */
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
