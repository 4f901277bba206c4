import { type IntakeEvidence, type IntakeFindings, judgeIntake } from './collector-verdict.ts'
import { attributed, inProgressOfOne, relativeTo } from './duplicate-causes.ts'
import { failuresOfProbes, type ProbesSeen } from './kubelet.ts'
import { type Delivery, type Sent, targetOf } from './message-ledger.ts'
import { failuresOfPairs, judgeOrder, type OrderEvidence, type RetryRecords } from './order-verdict.ts'
import { some } from './result-of-a-check.ts'

/** Limits of a scenario. Times are for an otherwise idle machine. */
export interface Limits {
  /**
   * Maximum number of duplicates that neither the sender nor a killed or frozen process explains.
   */
  readonly duplicates: number
  /** Maximum number of duplicates because the sender wrote a message again. Default: 0. */
  readonly bySender?: number
  /**
   * Maximum time from a fault, or its end, until the affected partitions or processes deliver
   * again.
   */
  readonly recoveryMs: number
  /** Maximum time from the acknowledgement of an event to its delivery. */
  readonly latestMs: number
  /**
   * Maximum time between two deliveries on a partition that keeps its process. Absent: not judged.
   */
  readonly pauseMs?: number
  /** Maximum time for which a process is not ready after it was ready. Default: 15 s. */
  readonly unreadyMs?: number
  /**
   * Minimum share of pairs (consecutive messages of a user) with a judged order. Messages deferred
   * before any attempt are not judged. Default: 0.8.
   */
  readonly orderedShare?: number
  /**
   * `examined`: the scenario loses records and examines the losses itself. Absent: no loss is
   * allowed.
   */
  readonly loss?: 'examined'
}

/** A fault, and its effect as observed from outside. */
export interface Injected {
  /** Description, for example `SIGKILL p3`. */
  readonly what: string
  readonly at: number
  /**
   * Start of the recovery time: the start of the fault, or its end if Hookline can recover only
   * then.
   */
  readonly from: number
  /** End of the recovery. Undefined without a recovery within the time limit. */
  readonly recoveredAt: number | undefined
  /** Names of the processes that were killed or frozen. */
  readonly victims: readonly string[]
  /** When they were killed or frozen, if this is not `at`. */
  readonly victimsAt?: number | undefined
  /** When the fault ended. A frozen process continues from this time. */
  readonly healedAt?: number | undefined
}

export interface Evidence {
  readonly limits: Limits
  /** Multiplies every time limit, for a busy machine. */
  readonly patience: number
  readonly destinations: readonly string[]
  readonly acknowledged: readonly Sent[]
  /** In order of arrival. */
  readonly deliveries: readonly Delivery[]
  readonly injected: readonly Injected[]
  /** Reasons of the dead letters, by `<destination> <message id>`. */
  readonly deadLettered: ReadonlyMap<string, string>
  /** Deliveries that wait in a retry topic, each as `<destination> <message id>`. */
  readonly waiting: ReadonlySet<string>
  /**
   * Deliveries that an endpoint rejected, each as `<destination> <message id>`. All must be dead
   * letters.
   */
  readonly refused: ReadonlySet<string>
  /** Evidence for the order of each user's messages. Absent: the order is not judged. */
  readonly order?: Pick<OrderEvidence, 'places' | 'calls'> & { readonly retried: ReadonlyMap<string, RetryRecords> }
  readonly probes?: ProbesSeen
  /** Absent when the load was written directly to Kafka, without collectors. */
  readonly intake?: Omit<IntakeEvidence, 'patience' | 'injected'>
  /** Failures that the other fields do not show, for example a process that exits with an error. */
  readonly problems: readonly string[]
}

/** Figures of one run. Times are rounded milliseconds. */
export interface Findings {
  /** Number of acknowledged events, multiplied by the number of destinations. */
  readonly sent: number
  readonly delivered: number
  readonly waiting: number
  readonly deadLettered: number
  readonly lost: number
  /** Number of deliveries beyond the first one of each message and destination. */
  readonly duplicates: number
  /**
   * `bySender`: the sender wrote the message again. `inProgress`: a killed or frozen process had
   * not committed the delivery. `ours`: errors of Hookline.
   */
  readonly duplicated: { readonly bySender: number; readonly inProgress: number; readonly ours: number }
  /** Number of pairs whose order was judged. */
  readonly orderedPairs: number
  readonly reversed: number
  /** Longest recovery time of all faults. Null without a recovery. */
  readonly recoveryMs: number | null
  /**
   * Longest time from acknowledgement to delivery. Null when the load was a list of an audience.
   */
  readonly latestMs: number | null
  /** Longest time for which a process was not ready after it was ready. Null: not probed. */
  readonly unreadyMs: number | null
  /** Longest time between two deliveries on a partition that kept its process. Null: not judged. */
  readonly pauseMs: number | null
  /** Null when the load was written directly to Kafka, without collectors. */
  readonly intake: Omit<IntakeFindings, 'failures'> | null
  /** Empty if the run passes. */
  readonly failures: readonly string[]
}

export function judge(evidence: Evidence): Findings {
  const { limits, patience, injected, problems } = evidence
  const fates = fatesOf(evidence)
  const { destinations, order: log = { places: new Map(), calls: [], retried: new Map<string, RetryRecords>() } } =
    evidence
  const copies = new Map([...log.places].map(([id, place]) => [id, place.copies]))
  const { bySender, inProgress, ours } = attributed({ ...evidence, copies, retried: log.retried })
  const order = judgeOrder({ ...log, destinations, injected, patience })
  const recoveries = injected.map(({ from, recoveredAt }) => (recoveredAt === undefined ? null : recoveredAt - from))
  const recoveryMs = recoveries.includes(null) ? null : Math.round(Math.max(0, ...(recoveries as number[])))
  const latestMs = latestOf(evidence.deliveries)
  const pause = limits.pauseMs === undefined ? undefined : longestPause(evidence)
  const intake = intakeOf(evidence)
  const failures = [...problems, ...intake.failures]
  const victims = injected.flatMap(each => each.victims)

  if (fates.lost.length > 0 && limits.loss === undefined) failures.push(`lost: ${some(fates.lost)}`)
  // A process may be killed after a delivery, before it commits the retry record, which then still
  // counts as waiting.
  if (fates.again.length > 0 && limits.duplicates === 0 && victims.length === 0)
    failures.push(`delivered, but still in a retry topic: ${some(fates.again)}`)
  if (fates.waiting > 0) failures.push(`still in a retry topic, although no fault is active: ${fates.waiting}`)
  if (fates.twice.length > 0) failures.push(`both delivered and dead-lettered: ${some(fates.twice)}`)
  if (fates.unduly.length > 0) failures.push(`dead-lettered although their endpoint works: ${some(fates.unduly)}`)
  if (ours.length > limits.duplicates)
    failures.push(`duplicated without a known cause, limit ${limits.duplicates}: ${some(ours)}`)
  failures.push(...tooManyExcused(evidence, { bySender, inProgress }))
  if (evidence.order !== undefined) failures.push(...failuresOfPairs(order, limits.orderedShare))
  if (order.reversed.length > 0) failures.push(`out of order for their user: ${some(order.reversed)}`)
  if (evidence.probes !== undefined) failures.push(...failuresOfProbes(evidence.probes, { patience, ...limits }))
  for (const [index, recovery] of recoveries.entries()) {
    const limit = limits.recoveryMs * patience
    const what = injected[index]?.what
    if (recovery === null) failures.push(`${what}: not every affected partition delivered again`)
    else if (recovery > limit) failures.push(`${what}: recovered after ${Math.round(recovery)} ms, limit ${limit} ms`)
  }
  const tooLong = (name: string, ms: number | null, limit: number | undefined): void => {
    if (ms !== null && limit !== undefined && ms > limit * patience)
      failures.push(`${name} ${ms} ms, limit ${limit * patience} ms`)
  }
  tooLong('the slowest delivery took', latestMs, limits.latestMs)
  if (limits.pauseMs !== undefined && injected.length > 0 && pause === undefined)
    failures.push('no partition stayed with its process, so the pauses of partitions cannot be judged')
  tooLong(`a partition that did not move (${pause?.where}) paused for`, pause?.ms ?? null, limits.pauseMs)
  return {
    sent: fates.sent,
    delivered: fates.delivered,
    waiting: fates.waiting,
    deadLettered: fates.deadLettered,
    lost: fates.lost.length,
    duplicates: bySender + inProgress + ours.length,
    duplicated: { bySender, inProgress, ours: ours.length },
    orderedPairs: order.pairs,
    reversed: order.reversed.length,
    recoveryMs,
    latestMs,
    unreadyMs: evidence.probes?.longestUnreadyMs ?? null,
    pauseMs: pause?.ms ?? null,
    intake: intake.findings,
    failures,
  }
}

function tooManyExcused(
  { limits, injected, patience }: Evidence,
  { bySender, inProgress }: { readonly bySender: number; readonly inProgress: number },
): readonly string[] {
  const failures: string[] = []
  const { bySender: limit = 0 } = limits
  if (bySender > limit)
    failures.push(`duplicated because the sender wrote the message again: ${bySender}, limit ${limit}`)
  const victims = injected.flatMap(each => each.victims).length
  const most = victims * inProgressOfOne * patience
  if (inProgress > most)
    failures.push(
      `duplicated because ${victims} killed or frozen processes had the delivery in progress: ${inProgress}, limit ${most}`,
    )
  return failures
}

function intakeOf({ intake, patience, injected }: Evidence) {
  if (intake === undefined) return { findings: null, failures: [] }
  const { failures, ...findings } = judgeIntake({ ...intake, patience, injected })
  return { findings, failures }
}

function fatesOf({ acknowledged, destinations, deliveries, deadLettered, waiting, refused }: Evidence) {
  const delivered = new Set(deliveries.map(targetOf))
  const targets = acknowledged.flatMap(({ id }) => destinations.map(destination => targetOf({ id, destination })))
  const missing = targets.filter(target => !delivered.has(target))
  const given = missing.filter(target => deadLettered.has(target))
  const left = missing.filter(target => !deadLettered.has(target))
  return {
    sent: targets.length,
    delivered: targets.length - missing.length,
    deadLettered: given.length,
    unduly: given.filter(target => !refused.has(target)).map(target => `${target} as ${deadLettered.get(target)}`),
    waiting: left.filter(target => waiting.has(target)).length,
    lost: left.filter(target => !waiting.has(target)),
    twice: targets.filter(target => delivered.has(target) && deadLettered.has(target) && !refused.has(target)),
    again: targets.filter(target => delivered.has(target) && waiting.has(target)),
  }
}

/** Returns the longest time from the acknowledgement of an event to its first delivery, in ms. */
export function latestOf(deliveries: readonly Delivery[]): number {
  const seen = new Set<string>()
  let latest = 0
  for (const delivery of deliveries) {
    const target = targetOf(delivery)
    if (seen.has(target)) continue
    seen.add(target)
    latest = Math.max(latest, delivery.at - (delivery.sent.acknowledgedAt ?? delivery.at))
  }
  return Math.round(latest)
}

interface Pause {
  readonly ms: number
  readonly where: string
}

/**
 * The longest time between two deliveries on a partition around a fault. Counts only partitions
 * that one unharmed process served for this whole time.
 */
function longestPause({ deliveries, injected }: Evidence): Pause | undefined {
  let longest: Pause | undefined
  const ofPartitions = Map.groupBy(deliveries, ({ sent }) => sent.partition)
  for (const { at, recoveredAt = at, victims } of injected)
    for (const [partition, all] of ofPartitions) {
      const own = about(all, at - 1_000, recoveredAt + 1_000)
      if (own.some(({ process }) => process !== own[0]?.process || victims.includes(process))) continue
      for (let index = 1; index < own.length; index++) {
        const { at: from, process } = own[index - 1]!
        const ms = Math.round(own[index]!.at - from)
        if (ms > (longest?.ms ?? -1))
          longest = { ms, where: `${partition}, with ${process}${relativeTo(injected, from)}` }
      }
    }
  return longest
}

/** Returns the deliveries from `from` to `to`, and the next one, which ends the last pause. */
function about(deliveries: readonly Delivery[], from: number, to: number): readonly Delivery[] {
  const next = deliveries.findIndex(({ at }) => at > to)
  return deliveries.slice(0, next < 0 ? deliveries.length : next + 1).filter(({ at }) => at >= from)
}
