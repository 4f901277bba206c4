import type { Standings } from './audience-world.ts'
import { type Findings, type Injected, latestOf } from './delivery-verdict.ts'
import { attributed, inProgressOfOne } from './duplicate-causes.ts'
import { failuresOfProbes, type ProbesSeen } from './kubelet.ts'
import { type Call, type Delivery, targetOf } from './message-ledger.ts'
import { failuresOfPairs, type Place, type RetryRecords } from './order-verdict.ts'
import { some } from './result-of-a-check.ts'
import type { AudienceScenario } from './scenario.ts'

export interface ReceivedMessages {
  readonly destination: string
  /** Members according to the last message about each user. */
  readonly members: ReadonlySet<string>
  /** In the order of arrival. */
  readonly requests: readonly Pick<Call, 'id' | 'process' | 'at'>[]
  /** Users for whom a new message repeated the value that the destination already had. */
  readonly repeatedValues: readonly string[]
}

export interface AudienceEvidence {
  readonly limits: AudienceScenario['limits']
  /** Factor for every time limit, for a busy machine. */
  readonly patience: number
  readonly expectedMembers: ReadonlySet<string>
  /**
   * Messages that each destination must get: one per member of the first list, and one per change
   * in further lists.
   */
  readonly changes: number
  readonly received: readonly ReceivedMessages[]
  /** `afterMs` is null if the time limit passed. */
  readonly settled: readonly { readonly list: string; readonly afterMs: number | null }[]
  /** Number of memberships in each sync status at the end, as reported by Hookline. */
  readonly syncStatuses: Standings
  readonly deadLettered: number
  /** Positions on the events topic, by message id. */
  readonly places: ReadonlyMap<string, Place>
  /**
   * A victim whose name begins with `d` is a dispatcher. The other victims are audiences processes.
   */
  readonly injected: readonly Injected[]
  /** Records in the retry topics, by `<destination> <message id>`. */
  readonly retried: ReadonlyMap<string, Pick<RetryRecords, 'writtenAt'>>
  readonly probes: ProbesSeen
  /** Failures that the other fields do not show, for example a process that exits with an error. */
  readonly problems: readonly string[]
}

export function judgeAudience(evidence: AudienceEvidence): Findings {
  const { limits, patience, changes, received, settled, syncStatuses, deadLettered, problems } = evidence
  const deliveries = deliveriesOf(evidence)
  const firsts = [...Map.groupBy(deliveries, targetOf).values()].flatMap(all => all.slice(0, 1))
  const duplicated = duplicatesOf(evidence, deliveries)
  const probed = failuresOfProbes(evidence.probes, { patience, ...limits })
  const failures = [...problems, ...probed, ...duplicated.failures]
  const wrong = received.flatMap(each => wrongAt(each, evidence.expectedMembers))
  if (wrong.length > 0) failures.push(`endpoints that differ from the last list: ${some(wrong)}`)
  const again = received.flatMap(({ destination, repeatedValues }) =>
    repeatedValues.map(user => `${destination} ${user}`),
  )
  if (again.length > 0) failures.push(`values that did not change, but were sent again: ${some(again)}`)
  for (const { destination } of received) {
    const { length } = firsts.filter(each => each.destination === destination)
    if (length !== changes) failures.push(`${destination} got ${length} of ${changes} changes`)
  }
  const limit = limits.settledMs * patience
  for (const { list, afterMs } of settled) {
    if (afterMs === null) failures.push(`${list}: the endpoints did not get the whole list within the time limit`)
    else if (afterMs > limit)
      failures.push(`${list}: the endpoints had the whole list after ${Math.round(afterMs)} ms, limit ${limit} ms`)
  }
  for (const [standing, count] of Object.entries(syncStatuses))
    if (count > 0) failures.push(`memberships with the sync status ${standing} at the end: ${count}`)
  if (deadLettered > 0) failures.push(`dead-lettered although every endpoint works: ${deadLettered}`)
  const latestMs = latestOf(deliveries)
  if (latestMs > limits.latestMs * patience)
    failures.push(`the slowest delivery took ${latestMs} ms, limit ${limits.latestMs * patience} ms`)
  const order = orderOf(evidence, firsts)
  failures.push(...order.failures)
  const times = settled.map(({ afterMs }) => afterMs)
  const { bySender, inProgress, ours } = duplicated
  return {
    sent: changes * received.length,
    delivered: firsts.length,
    waiting: syncStatuses.inFlight,
    deadLettered,
    lost: wrong.length,
    duplicates: bySender + inProgress + ours,
    duplicated: { bySender, inProgress, ours },
    orderedPairs: order.pairs,
    reversed: order.reversed,
    recoveryMs: times.includes(null) ? null : Math.round(Math.max(0, ...(times as number[]))),
    latestMs,
    unreadyMs: evidence.probes.longestUnreadyMs,
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
 * The accepted requests. A message counts as sent when its first record was written to the events
 * topic.
 */
const deliveriesOf = ({ received, places }: AudienceEvidence): readonly Delivery[] =>
  received.flatMap(({ destination, requests }) =>
    requests.map(({ id, process, at }) => {
      const { partition, writtenAt = at } = places.get(id) ?? { partition: -1 }
      return {
        id,
        destination,
        process,
        at,
        answer: 200,
        sent: { id, partition, at: writtenAt, acknowledgedAt: writtenAt },
      }
    }),
  )

/** An endpoint must accept a user's changes in the order of their records on the events topic. */
function orderOf({ places }: AudienceEvidence, firsts: readonly Delivery[]) {
  let pairs = 0
  const reversed: string[] = []
  const last = new Map<string, number>()
  for (const { id, destination } of firsts) {
    const place = places.get(id)
    if (place === undefined) continue
    const user = `${destination} ${place.partition} ${place.key}`
    const before = last.get(user)
    if (before !== undefined) pairs++
    if (before !== undefined && before > place.offset) reversed.push(`${destination} ${id} of ${place.key}`)
    last.set(user, Math.max(before ?? 0, place.offset))
  }
  // With `possible` equal to `pairs`, only 0 pairs are a failure.
  const failures = [...failuresOfPairs({ pairs, possible: pairs })]
  if (reversed.length > 0) failures.push(`out of order for their user: ${some(reversed)}`)
  return { pairs, reversed: reversed.length, failures }
}

const isDispatcher = (name: string): boolean => name.startsWith('d')

/**
 * Attributes each repeated message to one of two causes: the audiences service wrote it again, or a
 * killed dispatcher had it in progress.
 */
function duplicatesOf({ places, injected, retried, patience }: AudienceEvidence, deliveries: readonly Delivery[]) {
  const victims = injected.flatMap(each => each.victims)
  const killed = victims.filter(isDispatcher).length
  const { bySender, inProgress, ours } = attributed({
    injected: injected.map(each => ({ ...each, victims: each.victims.filter(isDispatcher) })),
    copies: new Map([...places].map(([id, { copies }]) => [id, copies])),
    ...{ deliveries, retried, patience },
  })
  const failures = ours.length > 0 ? [`duplicated without a known cause: ${some(ours)}`] : []
  for (const [count, hit, what] of [
    [bySender, victims.length - killed, 'killed or disconnected audiences processes wrote again'],
    [inProgress, killed, 'killed dispatchers had in progress'],
  ] as const) {
    const limit = hit * inProgressOfOne * patience
    if (count > limit) failures.push(`duplicates that ${hit} ${what}: ${count}, limit ${limit}`)
  }
  return { bySender, inProgress, ours: ours.length, failures }
}
