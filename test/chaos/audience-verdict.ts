import type { Standings } from './audience-world.ts'
import type { AudienceScenario } from './scenario.ts'
import type { Findings } from './verdict.ts'

/** What one destination was told, as its endpoint knows. */
export interface Told {
  readonly destination: string
  /** Whose last value is that they are in the audience. */
  readonly members: ReadonlySet<string>
  /** Messages, each counted once. */
  readonly taken: number
  /** Messages that came again under their id. */
  readonly duplicates: number
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
  readonly standings: Standings
  readonly deadLettered: number
  /** What else was seen that must not be. */
  readonly problems: readonly string[]
}

export function judgeAudience(evidence: AudienceEvidence): Findings {
  const { limits, patience, changes, told, settled, standings, deadLettered, problems } = evidence
  const failures = [...problems]
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
  for (const [standing, count] of Object.entries(standings))
    if (count > 0) failures.push(`memberships in the end ${standing}: ${count}`)
  if (deadLettered > 0) failures.push(`dead-lettered although every endpoint works: ${deadLettered}`)
  const times = settled.map(({ afterMs }) => afterMs)
  const sum = (of: 'taken' | 'duplicates'): number => told.reduce((all, each) => all + each[of], 0)
  return {
    sent: changes * told.length,
    delivered: sum('taken'),
    waiting: standings.inFlight,
    deadLettered,
    lost: wrong.length,
    duplicates: sum('duplicates'),
    duplicated: { bySender: 0, inProgress: sum('duplicates'), ours: 0 },
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

const some = (all: readonly string[]): string =>
  `${all.length} (${all.slice(0, 3).join('; ')}${all.length > 3 ? '; …' : ''})`
