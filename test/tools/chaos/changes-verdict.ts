import type { ChangesSeen } from './change-load.ts'
import { markIn, numberIn, type VersionRecord } from './changed-destinations.ts'
import type { Call } from './message-ledger.ts'
import { type CheckResult, some } from './result-of-a-check.ts'

export interface ObjectSeen {
  readonly id: string
  readonly version: number
  readonly state: string
  readonly problems: readonly unknown[]
  readonly document: Parameters<typeof markIn>[0]
}

/**
 * A delivery of one of the last events. When these events are sent, every process must already use
 * the last changes.
 */
export interface LastDelivery extends Pick<Call, 'destination' | 'mark'> {
  readonly partition: number
}

export interface ChangesEvidence {
  readonly destinations: readonly string[]
  readonly wanted: number
  readonly seen: ChangesSeen
  /** In the order of their offsets. */
  readonly records: readonly VersionRecord[]
  /** Destinations at the end, by the name of the operator process. */
  readonly lists: ReadonlyMap<string, readonly ObjectSeen[]>
  readonly calls: readonly Pick<Call, 'id' | 'destination' | 'mark'>[]
  readonly last: readonly LastDelivery[]
  readonly partitions: number
  /** Dispatchers that have delivered the last events. */
  readonly dispatchers: { readonly names: ReadonlySet<string>; readonly expected: number }
}

/** The marks of each destination's versions, beginning with version 1. */
type Chains = ReadonlyMap<string, readonly string[]>

/**
 * Judges whether each acknowledged change is completely in force in every process. Of records with
 * the same version, only the first counts.
 */
export function judgeChanges(evidence: ChangesEvidence): CheckResult {
  const { destinations, records, seen, wanted } = evidence
  const chains = chainsOf(destinations, records)
  const changes = [...chains].flatMap(([destination, marks]) => marks.slice(1).map(mark => `${destination} ${mark}`))
  const { failures, counts, inForceUnknown } = judgeTries(evidence, chains, new Set(changes))
  const made = counts.acknowledged + seen.found
  return {
    measured: [
      `${made} of ${wanted} changes were made: the operator API acknowledged ${counts.acknowledged} with a 200, and clients found ${seen.found} by reading the destination again. ${counts.refused} tries got a 412, and were repeated. ${counts.unknown} tries got a 503 or no response, but ${inForceUnknown} of them made a new version. So the config topic has ${changes.length} new versions (${counts.acknowledged} + ${inForceUnknown})`,
      `${evidence.last.length} deliveries to the last URLs of ${destinations.length} destinations, by the processes ${[...evidence.dispatchers.names].join(' and ')}`,
    ],
    failures: [
      ...seen.problems,
      ...(made === wanted ? [] : [`${made} changes were made, not ${wanted}`]),
      ...failures,
      ...failuresOfLists(evidence, chains),
      ...failuresOfRequests(evidence, chains),
    ],
  }
}

function chainsOf(destinations: readonly string[], records: readonly VersionRecord[]): Chains {
  const chains = new Map(destinations.map(destination => [destination, [] as string[]]))
  for (const { destination, version, mark, isCopy } of records) {
    const chain = chains.get(destination)
    if (!isCopy && version === (chain?.length ?? 0) + 1) chain?.push(mark)
  }
  return chains
}

function judgeTries({ seen: { tries } }: ChangesEvidence, chains: Chains, changes: ReadonlySet<string>) {
  const named = (each: { readonly destination: string; readonly mark: string }) => `${each.destination} ${each.mark}`
  const of = (outcome: (typeof tries)[number]['outcome']) => tries.filter(each => each.outcome === outcome)
  const [acknowledged, refused, unknown] = [of('acknowledged'), of('refused'), of('unknown')]
  const isInPlace = ({ destination, mark, version = 0 }: (typeof tries)[number]) =>
    chains.get(destination)?.[version - 1] === mark
  const lostUpdates = [...chains].flatMap(([destination, marks]) =>
    marks.flatMap((mark, index) => (numberIn(mark) === index ? [] : `${destination} ${mark} as version ${index + 1}`)),
  )
  const sent = new Set([...acknowledged, ...unknown].map(named))
  const failures = [
    ...list(
      'acknowledged, but not in force with the version of the response',
      acknowledged.filter(each => !isInPlace(each)).map(named),
    ),
    ...list(
      'refused with 412, but in force',
      refused.map(named).filter(name => changes.has(name)),
    ),
    ...list(
      'in force, but neither acknowledged nor without a known result',
      [...changes].filter(name => !sent.has(name)),
    ),
    ...list('a version that is not based on the one before it', lostUpdates),
    ...(unknown.length > 0 ? [] : ['no kill interrupted a change, so the run proves nothing']),
  ]
  const counts = { acknowledged: acknowledged.length, refused: refused.length, unknown: unknown.length }
  return { failures, counts, inForceUnknown: unknown.filter(each => changes.has(named(each))).length }
}

/**
 * Returns a failure for each operator process that does not show and use the last version of every
 * destination, or shows other fields than the first operator process.
 */
function failuresOfLists({ lists, destinations }: ChangesEvidence, chains: Chains): readonly string[] {
  const [first] = lists.values()
  const texts = new Map(first?.map(object => [object.id, JSON.stringify(object)]))
  const failures = lists.size > 1 ? [] : [`${lists.size} operator processes responded at the end`]
  for (const [operator, objects] of lists) {
    const ids = new Set(objects.map(({ id }) => id))
    const wrong = objects.filter(({ id, version, document }) => {
      const marks = chains.get(id) ?? []
      return version !== marks.length || markIn(document) !== marks.at(-1)
    })
    const unused = objects.filter(({ state, problems }) => state !== 'enabled' || problems.length > 0)
    const differing = objects.filter(object => texts.get(object.id) !== JSON.stringify(object))
    failures.push(
      ...list(
        `${operator} does not show`,
        destinations.filter(id => !ids.has(id)),
      ),
      ...list(
        `${operator} does not show the last version`,
        wrong.map(({ id, version }) => `${id} version ${version}`),
      ),
      ...list(
        `${operator} does not use`,
        unused.map(({ id, state, problems }) => `${id} ${state} ${JSON.stringify(problems)}`),
      ),
      ...list(
        `${operator} shows other fields than another process`,
        differing.map(({ id }) => id),
      ),
    )
  }
  return failures
}

/**
 * Each request must have the mark of a version of its destination. Requests of the last events must
 * have the last mark.
 */
function failuresOfRequests(evidence: ChangesEvidence, chains: Chains): readonly string[] {
  const { destinations, calls, last, partitions, dispatchers } = evidence
  const sets = new Map([...chains].map(([destination, marks]) => [destination, new Set(marks)]))
  const strange = calls.filter(({ destination, mark = 'none' }) => sets.get(destination)?.has(mark) !== true)
  const outdated = last.filter(({ destination, mark }) => mark !== chains.get(destination)?.at(-1))
  const places = new Set(last.map(({ destination, partition }) => `${destination} ${partition}`))
  const missing = destinations.flatMap(destination =>
    Array.from({ length: partitions }, (_, partition) => `${destination} ${partition}`).filter(
      place => !places.has(place),
    ),
  )
  const { names, expected } = dispatchers
  return [
    ...list(
      'requests without the mark of one version in force',
      strange.map(({ id, destination, mark = 'none' }) => `${destination} ${id}: ${mark}`),
    ),
    ...list(
      'delivered with an earlier version',
      outdated.map(({ destination, mark }) => `${destination} ${mark}`),
    ),
    ...list('no delivery of the last events by destination and partition', missing),
    ...(names.size === expected ? [] : [`${names.size} dispatchers delivered the last events, not ${expected}`]),
  ]
}

const list = (what: string, all: readonly string[]): readonly string[] =>
  all.length > 0 ? [`${what}: ${some(all)}`] : []
