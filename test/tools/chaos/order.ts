import { type Call, statusOf, targetOf } from './ledger.ts'

/** Where a message is on the events topic: of several copies the first one. */
export interface Place {
  readonly partition: number
  readonly offset: number
  /** Of the record: the user. */
  readonly key: string
  /** Records that have this message id. */
  readonly copies: number
}

export interface OrderEvidence {
  /** By message id. */
  readonly places: ReadonlyMap<string, Place>
  readonly destinations: readonly string[]
  /** In the order in which they came in. */
  readonly calls: readonly Call[]
  /** What was ever in a retry topic, by `<destination> <message id>`. */
  readonly retried: ReadonlyMap<string, Pick<RetryRecords, 'fewest' | 'most'>>
  /** Factor on the time that an end takes to be seen at the other side. */
  readonly patience: number
}

/** What the records of one target in the retry topics say. */
export interface RetryRecords {
  /** The fewest and the most attempts that were made before one of them. */
  readonly fewest: number
  readonly most: number
  /** When each of them was written, in milliseconds of the ledger's clock. */
  readonly writtenAt: readonly number[]
}

export interface OrderFindings {
  /** Pairs of messages, one directly behind the other, of one user at one destination. */
  readonly pairs: number
  readonly reversed: readonly string[]
}

/** A caller that gives up, or is content with the head, begins its next call before the end of this one is seen. */
const seenLateMs = 50

/**
 * For one user and destination the first attempt at a message starts after that at the message
 * before it has ended, unless this one was moved to a retry topic before any attempt.
 */
export function judgeOrder({ places, destinations, calls, retried, patience }: OrderEvidence): OrderFindings {
  const firsts = new Map<string, Call>()
  const counts = new Map<string, number>()
  for (const call of calls) {
    const target = targetOf(call)
    counts.set(target, (counts.get(target) ?? 0) + 1)
    if (!firsts.has(target)) firsts.set(target, call)
  }
  // Without an attempt, or after one that did not come here: its first call is no first attempt.
  const isMoved = (target: string): boolean => {
    const { fewest, most } = retried.get(target) ?? { fewest: 1, most: 0 }
    return fewest === 0 || (counts.get(target) ?? 0) <= most
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
