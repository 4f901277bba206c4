import { attributed } from '../chaos/duplicate-causes.ts'
import { type Delivery, type Posted, type Sent, targetOf } from '../chaos/message-ledger.ts'
import { quantile, some } from '../chaos/result-of-a-check.ts'

/**
 * Maximum number of repeated deliveries per killed or disconnected pod: 60 per second, in the 250
 * ms between two commits and in one second of tolerance.
 */
const inProgressOfOne = 75

/**
 * Share of requests that may be sent again. A collector that closed connections in use would far
 * exceed it.
 */
const sentAgainShare = 0.001

export interface Limits {
  /** Maximum number of restarts of containers. A killed container restarts once. */
  readonly restarts: number
  /** Maximum number of requests to the collector without a 200. Absent: not judged. */
  readonly refused?: number
  /**
   * Maximum time between two deliveries of a partition to the first destination. Absent: not
   * judged.
   */
  readonly pauseMs?: number
  /**
   * Maximum time from the acknowledgement of a message to its first delivery to each destination.
   */
  readonly latestMs: number
}

export interface Evidence {
  readonly limits: Limits
  readonly destinations: readonly string[]
  readonly sent: readonly Sent[]
  readonly posted: readonly Posted[]
  /** Successful deliveries of the run, in order of arrival. */
  readonly deliveries: readonly Delivery[]
  /** When the fault began, in ms of `performance.now()`. */
  readonly at: number
  readonly victims: readonly string[]
  readonly restarts: number
}

export interface Figures {
  /** Number of acknowledged messages, multiplied by the number of destinations. */
  readonly sent: number
  readonly delivered: number
  readonly lost: number
  readonly duplicates: { readonly inProgress: number; readonly ours: number }
  readonly refused: number
  readonly restarts: number
  /** Times in ms, or null if the scenario ran without load. */
  readonly p50Ms: number | null
  readonly p99Ms: number | null
  readonly latestMs: number | null
  readonly pauseMs: number | null
  readonly failures: readonly string[]
}

export function judge(evidence: Evidence): Figures {
  const { limits, destinations, deliveries, at, victims, restarts } = evidence
  const acknowledged = evidence.sent.filter(({ acknowledgedAt }) => acknowledgedAt !== undefined)
  const firsts = new Map<string, Delivery>()
  for (const delivery of deliveries) if (!firsts.has(targetOf(delivery))) firsts.set(targetOf(delivery), delivery)
  const targets = acknowledged.flatMap(({ id }) => destinations.map(destination => targetOf({ id, destination })))
  const lost = targets.filter(target => !firsts.has(target))
  const injected = victims.length === 0 ? [] : [{ what: 'the fault', at, from: at, recoveredAt: undefined, victims }]
  const copies = copiesOf(evidence)
  const { inProgress, ours } = attributed({ deliveries, injected, copies, retried: new Map(), patience: 1 })
  const latencies = targets.flatMap(target => {
    const { sent, at: delivered = 0 } = firsts.get(target) ?? {}
    return sent?.acknowledgedAt === undefined ? [] : [Math.max(0, delivered - sent.acknowledgedAt)]
  })
  const latestMs = Math.round(quantile(latencies, 1))
  const pauseMs = longestPause(deliveries, destinations[0] ?? '', at)
  const refused = evidence.posted.filter(({ answer }) => answer !== 200).length
  const sentAgain = evidence.posted.filter(posted => posted.sentAgain !== undefined).length
  const failures: string[] = []
  if (acknowledged.length === 0) failures.push('no message was accepted')
  if (lost.length > 0) failures.push(`lost: ${some(lost)}`)
  if (ours.length > 0) failures.push(`duplicates without a known cause: ${some(ours)}`)
  const most = victims.length * inProgressOfOne
  const limited = [
    ['repeated deliveries that a pod could not commit', inProgress, most],
    ['restarts', restarts, limits.restarts],
    ['requests to the collector without a 200', refused, limits.refused],
    ['requests that were sent again', sentAgain, Math.ceil(sentAgainShare * evidence.posted.length)],
    ['the longest pause of a partition in ms', pauseMs, limits.pauseMs],
    ['the latest delivery in ms', latestMs, limits.latestMs],
  ] as const
  for (const [what, count, limit] of limited)
    if (limit !== undefined && count > limit) failures.push(`${what}: ${count}, limit ${limit}`)
  return {
    ...{ sent: targets.length, delivered: targets.length - lost.length, lost: lost.length },
    duplicates: { inProgress, ours: ours.length },
    ...{ refused, restarts, latestMs, pauseMs, failures },
    p50Ms: Math.round(quantile(latencies, 0.5)),
    p99Ms: Math.round(quantile(latencies, 0.99)),
  }
}

/**
 * Returns how often the collector accepted each repeated message. All deliveries of one accepted
 * request have the same `mark`.
 */
function copiesOf({ posted, deliveries }: Evidence): ReadonlyMap<string, number> {
  const sentAgain = new Set(posted.flatMap(request => request.sentAgain ?? []))
  const repeated = Map.groupBy(
    deliveries.filter(({ id }) => sentAgain.has(id)),
    targetOf,
  )
  const copies = new Map<string, number>()
  for (const each of repeated.values()) {
    const [{ id = '' } = {}] = each
    copies.set(id, Math.max(copies.get(id) ?? 1, new Set(each.map(({ mark }) => mark)).size))
  }
  return copies
}

/** The longest time without a delivery of a partition to a destination since `from`, in ms. */
function longestPause(deliveries: readonly Delivery[], destination: string, from: number): number {
  let longest = 0
  const latest = new Map<number, number>()
  for (const delivery of deliveries) {
    if (delivery.destination !== destination) continue
    const { partition } = delivery.sent
    const before = latest.get(partition)
    if (before !== undefined && delivery.at >= from) longest = Math.max(longest, delivery.at - Math.max(before, from))
    latest.set(partition, delivery.at)
  }
  return Math.round(longest)
}
