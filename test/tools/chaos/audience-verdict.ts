import type { Standings } from './audience-world.ts'
import { some } from './check-result.ts'
import type { Findings } from './delivery-verdict.ts'
import { inProgressOfOne } from './duplicate-causes.ts'
import { failuresOfProbes, type ProbesSeen } from './kubelet.ts'
import type { Place } from './order-verdict.ts'
import type { AudienceScenario } from './scenario.ts'

/** The messages that one destination got, as its endpoint recorded them. */
export interface ReceivedMessages {
  readonly destination: string
  /** Users that are members according to the last message about them. */
  readonly members: ReadonlySet<string>
  /** Ids of the different messages, in the order in which the endpoint accepted them. */
  readonly taken: readonly string[]
  /** Ids of messages that arrived again, with one entry for each repetition. */
  readonly repeated: readonly string[]
  /** Users for whom a new message repeated the value that the destination already had. */
  readonly repeatedValues: readonly string[]
}

export interface AudienceEvidence {
  readonly limits: AudienceScenario['limits']
  /** Factor by which every time limit is multiplied, for a busy machine. */
  readonly patience: number
  /** Members of the last list. */
  readonly expectedMembers: ReadonlySet<string>
  /**
   * Number of messages that each destination must get: the sum of the changes from each list to the
   * next one. All members of the first list count as changes.
   */
  readonly changes: number
  readonly received: readonly ReceivedMessages[]
  /**
   * For each list, the milliseconds until all destinations had it. Null if the time limit passed.
   */
  readonly settled: readonly { readonly list: string; readonly afterMs: number | null }[]
  /**
   * Number of memberships by sync status (`acknowledged`, `in_flight`, `unknown` or `different`) at
   * the end, as Hookline reports it.
   */
  readonly syncStatuses: Standings
  readonly deadLettered: number
  /** Positions of the messages on the events topic, by message id. */
  readonly places: ReadonlyMap<string, Place>
  /**
   * Number of processes that could not commit their work, because they were killed or disconnected.
   */
  readonly victims: { readonly audiences: number; readonly dispatchers: number }
  /** Responses of the processes to liveness and readiness probes. */
  readonly probes: ProbesSeen
  /** Other failures that were observed during the run. */
  readonly problems: readonly string[]
}

export function judgeAudience(evidence: AudienceEvidence): Findings {
  const { limits, patience, changes, received, settled, syncStatuses, deadLettered, problems } = evidence
  const duplicated = attributed(evidence)
  const failures = [...problems, ...failuresOfProbes(evidence.probes), ...duplicated.failures]
  const wrong = received.flatMap(each => wrongAt(each, evidence.expectedMembers))
  if (wrong.length > 0) failures.push(`differs from the last list: ${some(wrong)}`)
  const again = received.flatMap(({ destination, repeatedValues }) =>
    repeatedValues.map(user => `${destination} ${user}`),
  )
  if (again.length > 0) failures.push(`unchanged value sent again: ${some(again)}`)
  for (const { destination, taken } of received)
    if (taken.length !== changes) failures.push(`${destination} got ${taken.length} of ${changes} changes`)
  const limit = limits.settledMs * patience
  for (const { list, afterMs } of settled) {
    if (afterMs === null) failures.push(`${list}: not settled in time`)
    else if (afterMs > limit) failures.push(`${list}: settled after ${Math.round(afterMs)} ms, limit ${limit} ms`)
  }
  for (const [standing, count] of Object.entries(syncStatuses))
    if (count > 0) failures.push(`memberships at the end ${standing}: ${count}`)
  if (deadLettered > 0) failures.push(`dead-lettered although every endpoint works: ${deadLettered}`)
  const order = orderOf(evidence)
  failures.push(...order.failures)
  const times = settled.map(({ afterMs }) => afterMs)
  const { bySender, inProgress, ours } = duplicated
  return {
    sent: changes * received.length,
    delivered: received.reduce((all, { taken }) => all + taken.length, 0),
    waiting: syncStatuses.inFlight,
    deadLettered,
    lost: wrong.length,
    duplicates: bySender + inProgress + ours,
    duplicated: { bySender, inProgress, ours },
    orderedPairs: order.pairs,
    reversed: order.reversed,
    recoveryMs: times.includes(null) ? null : Math.round(Math.max(0, ...(times as number[]))),
    latestMs: null,
    pauseMs: null,
    intake: null,
    failures,
  }
}

function wrongAt({ destination, members }: ReceivedMessages, truth: ReadonlySet<string>): readonly string[] {
  const missing = [...truth].filter(user => !members.has(user))
  const left = [...members].filter(user => !truth.has(user))
  return [
    ...missing.map(user => `${destination} lacks ${user}`),
    ...left.map(user => `${destination} still has ${user}`),
  ]
}

/** Judges the order of each user's changes: an endpoint must accept them in the order of the topic. */
function orderOf({ received, places }: AudienceEvidence) {
  let pairs = 0
  const reversed: string[] = []
  for (const { destination, taken } of received) {
    const last = new Map<string, number>()
    for (const id of taken) {
      const place = places.get(id)
      if (place === undefined) continue
      const user = `${place.partition} ${place.key}`
      const before = last.get(user)
      if (before !== undefined) pairs++
      if (before !== undefined && before > place.offset) reversed.push(`${destination} ${id} of ${place.key}`)
      last.set(user, Math.max(before ?? 0, place.offset))
    }
  }
  const failures: string[] = []
  if (pairs === 0) failures.push('no two changes of one user, so order cannot be judged')
  if (reversed.length > 0) failures.push(`out of order for their user: ${some(reversed)}`)
  return { pairs, reversed: reversed.length, failures }
}

/**
 * Attributes each repeated message to a cause: the audiences service wrote the message again, or a
 * killed dispatcher had it in progress. For each process that was killed or disconnected, each
 * cause permits a limited number of repetitions.
 */
function attributed({ received, places, victims, patience }: AudienceEvidence) {
  let [bySender, inProgress] = [0, 0]
  const ours: string[] = []
  for (const { destination, repeated } of received)
    for (const [id, all] of Map.groupBy(repeated, each => each)) {
      const written = Math.min(all.length, (places.get(id)?.copies ?? 1) - 1)
      bySender += written
      if (victims.dispatchers > 0) inProgress += all.length - written
      else ours.push(...Array<string>(all.length - written).fill(`${destination} ${id}`))
    }
  const failures = ours.length > 0 ? [`duplicated without a known cause: ${some(ours)}`] : []
  for (const [count, hit, what] of [
    [bySender, victims.audiences, 'audiences processes wrote again'],
    [inProgress, victims.dispatchers, 'dispatchers had in progress'],
  ] as const) {
    const limit = hit * inProgressOfOne * patience
    if (count > limit) failures.push(`duplicates that ${hit} ${what}: ${count}, limit ${limit}`)
  }
  return { bySender, inProgress, ours: ours.length, failures }
}
