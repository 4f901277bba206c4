import { attributed, inProgressOfOne, relativeTo } from './duplicates.ts'
import { some } from './examined.ts'
import { type IntakeEvidence, type IntakeFindings, judgeIntake } from './intake.ts'
import { failuresOfProbes, type ProbesSeen } from './kubelet.ts'
import { type Delivery, type Sent, targetOf } from './ledger.ts'
import { judgeOrder, type OrderEvidence, type RetryRecords } from './order.ts'

/** What must hold. Times are for a machine that does nothing else. */
export interface Limits {
  /**
   * The most deliveries beyond the first that are ours: without the copies that the sender itself
   * wrote, and without one for each delivery that a killed or frozen process had in progress.
   */
  readonly duplicates: number
  /** The most of those copies that are delivered: none where the sender is not disturbed; 0. */
  readonly bySender?: number
  /** From a fault, or from the end of an outage, to the next delivery on everything that it hit. */
  readonly recoveryMs: number
  /** From the acknowledgement of an event to its delivery. */
  readonly latestMs: number
  /** Between two deliveries on a partition that stays where it is while processes come and go. Absent: not judged. */
  readonly pauseMs?: number
  /** Something is taken on purpose, and what is said of it is examined apart. Absent: nothing may be lost. */
  readonly loss?: 'examined'
}

/** A fault that was injected, and what it did as seen from outside. */
export interface Injected {
  /** `kill p3` */
  readonly what: string
  readonly at: number
  /** Its recovery counts from here: the fault itself, or the end of an outage. */
  readonly from: number
  /** Undefined: never, as long as was waited. */
  readonly recoveredAt: number | undefined
  /** Processes that had no chance to commit what they had done. */
  readonly victims: readonly string[]
  /** When what it took was given back: from here on a process that was frozen goes on. */
  readonly healedAt?: number | undefined
}

export interface Evidence {
  readonly limits: Limits
  /** Factor on every time, for a machine that is busy with other things. */
  readonly patience: number
  readonly destinations: readonly string[]
  readonly acknowledged: readonly Sent[]
  /** In the order in which they came. */
  readonly deliveries: readonly Delivery[]
  readonly injected: readonly Injected[]
  /** `<destination> <message id>` of what lies in the dead-letter topic, and why. */
  readonly deadLettered: ReadonlyMap<string, string>
  /** The same of what lies in the retry topics. */
  readonly parked: ReadonlySet<string>
  /** What an endpoint has refused for good: it has to lie in the dead-letter topic. */
  readonly refused: ReadonlySet<string>
  /** What Kafka and the receivers know of order. Absent: nobody has read the topics, and order is not judged. */
  readonly order?: Pick<OrderEvidence, 'places' | 'calls'> & { readonly retried: ReadonlyMap<string, RetryRecords> }
  /** Absent: nobody polled the processes. */
  readonly probes?: ProbesSeen
  /** What was seen where messages come in. Absent: the load was written to Kafka. */
  readonly intake?: Omit<IntakeEvidence, 'patience' | 'injected'>
  /** What else was seen that must not be. */
  readonly problems: readonly string[]
}

/** The figures of one run; times in milliseconds, rounded. */
export interface Findings {
  /** Acknowledged events times their destinations. */
  readonly sent: number
  readonly delivered: number
  /** Not delivered, but still in a retry topic when waiting was over. */
  readonly waiting: number
  readonly deadLettered: number
  readonly lost: number
  /** Deliveries beyond the first, whatever their cause. */
  readonly duplicates: number
  /** The same by cause. */
  readonly duplicated: { readonly bySender: number; readonly inProgress: number; readonly ours: number }
  /** Pairs of messages of one user whose order was judged. */
  readonly orderedPairs: number
  readonly reversed: number
  /** The worst of all faults; null when one did not recover. */
  readonly recoveryMs: number | null
  /** Null when the load was a list and no messages. */
  readonly latestMs: number | null
  /** Null when it was not judged. */
  readonly pauseMs: number | null
  /** Null when the load was written to Kafka. */
  readonly intake: Omit<IntakeFindings, 'failures'> | null
  /** Why the verdict is that it fails; empty: everything holds. */
  readonly failures: readonly string[]
}

export function judge(evidence: Evidence): Findings {
  const { limits, patience, injected, problems } = evidence
  const fates = fatesOf(evidence)
  const { destinations, order: log = { places: new Map(), calls: [], retried: new Map<string, RetryRecords>() } } =
    evidence
  const copies = new Map([...log.places].map(([id, place]) => [id, place.copies]))
  const { bySender, inProgress, ours } = attributed({ ...evidence, copies, retried: log.retried })
  const order = judgeOrder({ ...log, destinations, patience })
  const recoveries = injected.map(({ from, recoveredAt }) => (recoveredAt === undefined ? null : recoveredAt - from))
  const recoveryMs = recoveries.includes(null) ? null : Math.round(Math.max(0, ...(recoveries as number[])))
  const latestMs = latestOf(evidence)
  const pause = limits.pauseMs === undefined ? undefined : longestPause(evidence)
  const intake = intakeOf(evidence)
  const failures = [...problems, ...intake.failures]
  const victims = injected.flatMap(each => each.victims)

  if (fates.lost.length > 0 && limits.loss === undefined) failures.push(`lost: ${some(fates.lost)}`)
  // Who waits behind a repeated one is done and not yet passed, so that only none can be told from some.
  if (fates.again.length > 0 && limits.duplicates === 0 && victims.length === 0)
    failures.push(`delivered, and in a retry topic to be delivered again: ${some(fates.again)}`)
  if (fates.waiting > 0) failures.push(`still in a retry topic although nothing stands in the way: ${fates.waiting}`)
  if (fates.twice.length > 0) failures.push(`delivered and dead-lettered as well: ${some(fates.twice)}`)
  if (fates.unduly.length > 0) failures.push(`dead-lettered although their endpoint works: ${some(fates.unduly)}`)
  if (ours.length > limits.duplicates)
    failures.push(`delivered again without a reason, limit ${limits.duplicates}: ${some(ours)}`)
  failures.push(...tooManyExcused(evidence, { bySender, inProgress }))
  if (evidence.order !== undefined && order.pairs === 0) failures.push('no two messages of one user: no order to judge')
  if (order.reversed.length > 0) failures.push(`not in the order of their user: ${some(order.reversed)}`)
  if (evidence.probes !== undefined) failures.push(...failuresOfProbes(evidence.probes))
  for (const [index, recovery] of recoveries.entries()) {
    const limit = limits.recoveryMs * patience
    const what = injected[index]?.what
    if (recovery === null) failures.push(`${what}: no recovery`)
    else if (recovery > limit) failures.push(`${what}: recovered after ${Math.round(recovery)} ms, limit ${limit} ms`)
  }
  const tooLong = (name: string, ms: number | null, limit: number | undefined): void => {
    if (ms !== null && limit !== undefined && ms > limit * patience)
      failures.push(`${name}: ${ms} ms, limit ${limit * patience} ms`)
  }
  tooLong('the latest delivery came late by', latestMs, limits.latestMs)
  if (limits.pauseMs !== undefined && injected.length > 0 && pause === undefined)
    failures.push('no partition stayed with its process: no pause to judge')
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
    pauseMs: pause?.ms ?? null,
    intake: intake.findings,
    failures,
  }
}

/** Excuses have limits too: a process that commits too seldom, or a sender that repeats all, is not excused. */
function tooManyExcused(
  { limits, injected, patience }: Evidence,
  { bySender, inProgress }: { readonly bySender: number; readonly inProgress: number },
): readonly string[] {
  const failures: string[] = []
  const { bySender: limit = 0 } = limits
  if (bySender > limit) failures.push(`delivered again because the sender wrote it again: ${bySender}, limit ${limit}`)
  const victims = injected.flatMap(each => each.victims).length
  const most = victims * inProgressOfOne * patience
  if (inProgress > most)
    failures.push(`delivered again because ${victims} victims had it in progress: ${inProgress}, limit ${most}`)
  return failures
}

function intakeOf({ intake, patience, injected }: Evidence) {
  if (intake === undefined) return { findings: null, failures: [] }
  const { failures, ...findings } = judgeIntake({ ...intake, patience, injected })
  return { findings, failures }
}

/** Every acknowledged event has one fate at each destination. */
function fatesOf({ acknowledged, destinations, deliveries, deadLettered, parked, refused }: Evidence) {
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
    waiting: left.filter(target => parked.has(target)).length,
    lost: left.filter(target => !parked.has(target)),
    twice: targets.filter(target => delivered.has(target) && deadLettered.has(target) && !refused.has(target)),
    again: targets.filter(target => delivered.has(target) && parked.has(target)),
  }
}

function latestOf({ deliveries }: Evidence): number {
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
 * The longest that begins from a second before each fault to a second after the recovery, on
 * partitions that one process served all the time. Undefined: there were none.
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

/** Those from `from` to `to`, with the first one after it: a pause may last longer. */
function about(deliveries: readonly Delivery[], from: number, to: number): readonly Delivery[] {
  const next = deliveries.findIndex(({ at }) => at > to)
  return deliveries.slice(0, next < 0 ? deliveries.length : next + 1).filter(({ at }) => at >= from)
}
