import { type Call, targetOf } from './ledger.ts'

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
  /** `<destination> <message id>` of all that was ever in a retry topic: it no longer holds its user's next one back. */
  readonly deferred: ReadonlySet<string>
}

export interface OrderFindings {
  /** Pairs of messages, one directly behind the other, of one user at one destination. */
  readonly pairs: number
  readonly reversed: readonly string[]
}

/**
 * For one user and destination the first attempt at a message starts after that at the message
 * before it has ended, unless this one was moved to a retry topic.
 */
export function judgeOrder({ places, destinations, calls, deferred }: OrderEvidence): OrderFindings {
  const firsts = new Map<string, Call>()
  for (const call of calls) {
    const target = targetOf(call)
    if (!firsts.has(target)) firsts.set(target, call)
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
        if (call === undefined || deferred.has(target)) continue
        if (before !== undefined) {
          pairs++
          const early = (before.endedAt ?? Number.POSITIVE_INFINITY) - call.at
          if (early > 0)
            reversed.push(`${target} by ${call.process}, before ${before.id} by ${before.process} had ended`)
        }
        if (before === undefined || call.at > before.at) before = call
      }
    }
  }
  return { pairs, reversed }
}
