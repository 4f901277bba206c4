import type { Standings } from './audience-world.ts'
import { some } from './check-result.ts'
import type { Findings } from './delivery-verdict.ts'
import { inProgressOfOne } from './duplicate-causes.ts'
import { failuresOfProbes, type ProbesSeen } from './kubelet.ts'
import type { AudienceScenario } from './scenario.ts'

/** Messages that one destination got, as its endpoint recorded them. */
export interface ReceivedMessages {
  readonly destination: string
  /** Users whose last value is that they are members. */
  readonly members: ReadonlySet<string>
  /** Number of messages, each counted once. */
  readonly taken: number
  /** Id of each message that arrived more than once, once per repetition. */
  readonly repeated: readonly string[]
  /** Users who got the value that they already had, under another message id. */
  readonly repeatedValues: readonly string[]
}

export interface AudienceEvidence {
  readonly limits: AudienceScenario['limits']
  /** Factor on every time limit. */
  readonly patience: number
  /** Members of the last list. */
  readonly expectedMembers: ReadonlySet<string>
  /**
   * Sum of the changes that each list makes to the previous one: the number of messages that each
   * destination must get. All members of the first list count.
   */
  readonly changes: number
  readonly received: readonly ReceivedMessages[]
  /**
   * For each list, how long it took until all destinations had it; null when that took too long.
   */
  readonly settled: readonly { readonly list: string; readonly afterMs: number | null }[]
  /** Number of memberships by sync status at the end, as Hookline reports it. */
  readonly syncStatuses: Standings
  readonly deadLettered: number
  /** Number of records of each message on the events topic, by message id; absent means one. */
  readonly copies: ReadonlyMap<string, number>
  /**
   * Number of processes that could not commit their work, because they were killed or disconnected.
   */
  readonly victims: { readonly audiences: number; readonly dispatchers: number }
  /** Responses of the processes to liveness and readiness probes. */
  readonly probes: ProbesSeen
  /** Other failures that were observed. */
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
    if (taken !== changes) failures.push(`${destination} got ${taken} of ${changes} changes`)
  const limit = limits.settledMs * patience
  for (const { list, afterMs } of settled) {
    if (afterMs === null) failures.push(`${list}: not settled in time`)
    else if (afterMs > limit) failures.push(`${list}: settled after ${Math.round(afterMs)} ms, limit ${limit} ms`)
  }
  for (const [standing, count] of Object.entries(syncStatuses))
    if (count > 0) failures.push(`memberships at the end ${standing}: ${count}`)
  if (deadLettered > 0) failures.push(`dead-lettered although every endpoint works: ${deadLettered}`)
  const times = settled.map(({ afterMs }) => afterMs)
  const { bySender, inProgress, ours } = duplicated
  return {
    sent: changes * received.length,
    delivered: received.reduce((all, { taken }) => all + taken, 0),
    waiting: syncStatuses.inFlight,
    deadLettered,
    lost: wrong.length,
    duplicates: bySender + inProgress + ours,
    duplicated: { bySender, inProgress, ours },
    orderedPairs: 0,
    reversed: 0,
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

/**
 * Attributes each repeated message to a cause: the audiences service wrote it again, or a killed
 * dispatcher had it in progress. Each cause permits a limited number of repetitions per affected
 * process.
 */
function attributed({ received, copies, victims, patience }: AudienceEvidence) {
  let [bySender, inProgress] = [0, 0]
  const ours: string[] = []
  for (const { destination, repeated } of received)
    for (const [id, all] of Map.groupBy(repeated, each => each)) {
      const written = Math.min(all.length, (copies.get(id) ?? 1) - 1)
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
