import { type Call, statusOf, targetOf } from './ledger.ts'

/** Position of a message on the events topic; of the first copy, if the topic has several. */
export interface Place {
  readonly partition: number
  readonly offset: number
  /** Key of the record: the user. */
  readonly key: string
  /** Number of records with this message id. */
  readonly copies: number
}

export interface OrderEvidence {
  /** Positions by message id. */
  readonly places: ReadonlyMap<string, Place>
  readonly destinations: readonly string[]
  /** Requests in the order in which they arrived. */
  readonly calls: readonly Call[]
  /** Records that were ever in a retry topic, by `<destination> <message id>`. */
  readonly retried: ReadonlyMap<string, Pick<RetryRecords, 'minAttempts' | 'maxAttempts'>>
  /** Factor on the tolerance `seenLateMs`, for a busy machine. */
  readonly patience: number
}

/** Records in the retry topics of one message for one destination. */
export interface RetryRecords {
  /** The smallest and the largest number of attempts made before a record was written. */
  readonly minAttempts: number
  readonly maxAttempts: number
  /** When each record was written, in milliseconds of the ledger's clock. */
  readonly writtenAt: readonly number[]
}

export interface OrderFindings {
  /** Number of pairs of consecutive messages of one user at one destination. */
  readonly pairs: number
  readonly reversed: readonly string[]
}

/**
 * Tolerance in milliseconds. A client may begin its next request before the receiver sees the end
 * of the previous one: after a timeout, or after a response of which the client needs only the
 * head.
 */
const seenLateMs = 50

/**
 * Judges, per user and destination, whether the first attempt of a message starts after the first
 * attempt of the previous message has ended. Messages that were moved to a retry topic before any
 * attempt are excluded.
 */
export function judgeOrder({ places, destinations, calls, retried, patience }: OrderEvidence): OrderFindings {
  const firsts = new Map<string, Call>()
  const counts = new Map<string, number>()
  for (const call of calls) {
    const target = targetOf(call)
    counts.set(target, (counts.get(target) ?? 0) + 1)
    if (!firsts.has(target)) firsts.set(target, call)
  }
  // Whether the record was deferred without an attempt, or its first attempt did not arrive at the
  // receiver. The first request that arrived is then not the first attempt.
  const isMoved = (target: string): boolean => {
    const { minAttempts, maxAttempts } = retried.get(target) ?? { minAttempts: 1, maxAttempts: 0 }
    return minAttempts === 0 || (counts.get(target) ?? 0) <= maxAttempts
  }
  const ofUsers = Map.groupBy(places, ([, { partition, key }]) => `${partition} ${key}`)
  const reversed: string[] = []
  let pairs = 0
  for (const own of ofUsers.values()) {
    const ids = own.toSorted(([, a], [, b]) => a.offset - b.offset).map(([id]) => id)
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
  return { pairs, reversed }
}

function endOf({ answer, endedAt = Number.POSITIVE_INFINITY }: Call, patience: number): number {
  const isWhole = answer !== 'half' && statusOf(answer) !== undefined
  return isWhole ? endedAt : endedAt - seenLateMs * patience
}
