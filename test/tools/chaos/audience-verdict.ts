import type { Standings } from './audience-world.ts'
import { inProgressOfOne } from './duplicates.ts'
import { some } from './examined.ts'
import { failuresOfProbes, type ProbesSeen } from './kubelet.ts'
import type { AudienceScenario } from './scenario.ts'
import type { Findings } from './verdict.ts'

/** What one destination was told, as its endpoint knows. */
export interface Told {
  readonly destination: string
  /** Whose last value is that they are in the audience. */
  readonly members: ReadonlySet<string>
  /** Messages, each counted once. */
  readonly taken: number
  /** The id of each message that came again. */
  readonly repeated: readonly string[]
  /** Users who were told what they had been told already, by a message of another id. */
  readonly toldAgain: readonly string[]
}

export interface AudienceEvidence {
  readonly limits: AudienceScenario['limits']
  /** Factor on every time limit. */
  readonly patience: number
  /** Who is in the last list. */
  readonly truth: ReadonlySet<string>
  /** How many changes the lists are, one after the other: so many messages each destination needs, and no more. */
  readonly changes: number
  readonly told: readonly Told[]
  /** After each list how long it took until everybody had what they should; null: longer than was waited. */
  readonly settled: readonly { readonly list: string; readonly afterMs: number | null }[]
  /** What the service itself says when all is over. */
  readonly syncStatuses: Standings
  readonly deadLettered: number
  /** Records of each message on the events topic, by message id; absent: one. */
  readonly copies: ReadonlyMap<string, number>
  /** Processes that had no chance to commit what they had done: killed, or cut off. */
  readonly victims: { readonly audiences: number; readonly dispatchers: number }
  /** What the processes answered when they were polled. */
  readonly probes: ProbesSeen
  /** What else was seen that must not be. */
  readonly problems: readonly string[]
}

export function judgeAudience(evidence: AudienceEvidence): Findings {
  const { limits, patience, changes, told, settled, syncStatuses, deadLettered, problems } = evidence
  const duplicated = attributed(evidence)
  const failures = [...problems, ...failuresOfProbes(evidence.probes), ...duplicated.failures]
  const wrong = told.flatMap(each => wrongAt(each, evidence.truth))
  if (wrong.length > 0) failures.push(`not as in the last list: ${some(wrong)}`)
  const again = told.flatMap(({ destination, toldAgain }) => toldAgain.map(user => `${destination} ${user}`))
  if (again.length > 0) failures.push(`told again what they had: ${some(again)}`)
  for (const { destination, taken } of told)
    if (taken !== changes) failures.push(`${destination} was told ${taken} changes of ${changes}`)
  const limit = limits.settledMs * patience
  for (const { list, afterMs } of settled) {
    if (afterMs === null) failures.push(`${list}: it did not settle`)
    else if (afterMs > limit) failures.push(`${list}: settled after ${Math.round(afterMs)} ms, limit ${limit} ms`)
  }
  for (const [standing, count] of Object.entries(syncStatuses))
    if (count > 0) failures.push(`memberships in the end ${standing}: ${count}`)
  if (deadLettered > 0) failures.push(`dead-lettered although every endpoint works: ${deadLettered}`)
  const times = settled.map(({ afterMs }) => afterMs)
  const { bySender, inProgress, ours } = duplicated
  return {
    sent: changes * told.length,
    delivered: told.reduce((all, { taken }) => all + taken, 0),
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

function wrongAt({ destination, members }: Told, truth: ReadonlySet<string>): readonly string[] {
  const missing = [...truth].filter(user => !members.has(user))
  const left = [...members].filter(user => !truth.has(user))
  return [
    ...missing.map(user => `${destination} does not know ${user}`),
    ...left.map(user => `${destination} still has ${user}`),
  ]
}

/**
 * Each message that came again, by its cause: the audiences service wrote it again, or a dispatcher
 * was killed that had it in progress. Each cause excuses so many of each process that was hit.
 */
function attributed({ told, copies, victims, patience }: AudienceEvidence) {
  let [bySender, inProgress] = [0, 0]
  const ours: string[] = []
  for (const { destination, repeated } of told)
    for (const [id, all] of Map.groupBy(repeated, each => each)) {
      const written = Math.min(all.length, (copies.get(id) ?? 1) - 1)
      bySender += written
      if (victims.dispatchers > 0) inProgress += all.length - written
      else ours.push(...Array<string>(all.length - written).fill(`${destination} ${id}`))
    }
  const failures = ours.length > 0 ? [`delivered again without a reason: ${some(ours)}`] : []
  for (const [count, hit, what] of [
    [bySender, victims.audiences, 'audiences processes wrote again'],
    [inProgress, victims.dispatchers, 'dispatchers had in progress'],
  ] as const) {
    const limit = hit * inProgressOfOne * patience
    if (count > limit) failures.push(`delivered again what ${hit} ${what}: ${count}, limit ${limit}`)
  }
  return { bySender, inProgress, ours: ours.length, failures }
}
