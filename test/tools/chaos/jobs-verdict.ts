import type { Findings, Injected, Limits } from './delivery-verdict.ts'
import { attributed, inProgressOfOne } from './duplicate-causes.ts'
import type { EndedJob, LedgerTotalsSeen } from './job-load.ts'
import { failuresOfProbes, type ProbesSeen } from './kubelet.ts'
import { type Delivery, isSuccess, type Sent, targetOf } from './message-ledger.ts'
import { failuresOfPairs, judgeOrder, type OrderEvidence, type RetryRecords } from './order-verdict.ts'
import { some } from './result-of-a-check.ts'

/**
 * Maximum number of copies (records that a job writes to a retry topic) in progress when a job is
 * killed.
 */
export const copiesInProgress = 256

export interface JobRecords {
  readonly events: number
  readonly copies: number
  /**
   * Copies that jobs had to write: one for each dead letter, and one for each resend of the event.
   */
  readonly due: number
}

export interface JobsEvidence {
  /** `latestMs`: maximum time from the acknowledgement of an event to its first request. */
  readonly limits: Pick<Limits, 'recoveryMs' | 'latestMs' | 'unreadyMs'>
  /** Multiplies every time limit, for a busy machine. */
  readonly patience: number
  readonly destinations: readonly string[]
  readonly acknowledged: readonly Sent[]
  /** In order of arrival. */
  readonly calls: readonly Delivery[]
  readonly injected: readonly Injected[]
  readonly kills: { readonly operators: number; readonly dispatchers: number }
  /** By `<destination> <message id>`. */
  readonly records: ReadonlyMap<string, JobRecords>
  /** Records that dispatchers wrote to retry topics, by `<destination> <message id>`. */
  readonly moved: ReadonlyMap<string, Pick<RetryRecords, 'writtenAt'>>
  /** Evidence for the order of each user's messages, at the destinations without jobs. */
  readonly order: Pick<OrderEvidence, 'destinations' | 'places' | 'retried'>
  readonly jobs: readonly EndedJob[]
  /** Number of dead letters at the end, as Hookline reports it. */
  readonly deadLettersLeft: number
  readonly ledgers: readonly LedgerTotalsSeen[]
  /** Number of deliveries that the ledger must have admitted at the end. */
  readonly admitted: number
  /** The ledger when no delivery waits. Undefined if it could not be read. */
  readonly finalLedger: LedgerTotalsSeen | undefined
  readonly probes: ProbesSeen
  /** Failures that the other fields do not show, for example a process that exits with an error. */
  readonly problems: readonly string[]
}

export interface JobsFindings extends Omit<Findings, 'intake'> {
  readonly measured: readonly string[]
}

export function judgeJobs(evidence: JobsEvidence): JobsFindings {
  const { acknowledged, destinations, calls, deadLettersLeft, records } = evidence
  const delivered = new Set(calls.filter(isSuccess).map(targetOf))
  const targets = acknowledged.flatMap(({ id }) => destinations.map(destination => targetOf({ id, destination })))
  const lost = targets.filter(target => !delivered.has(target))
  const repeated = repetitions(evidence)
  const probed = failuresOfProbes(evidence.probes, { patience: evidence.patience, ...evidence.limits })
  const failures = [...evidence.problems, ...probed, ...repeated.failures]
  if (lost.length > 0) failures.push(`lost: ${some(lost)}`)
  if (deadLettersLeft > 0) failures.push(`dead letters left after the last replay: ${deadLettersLeft}`)
  const unfinished = evidence.jobs.filter(({ state }) => state !== 'done')
  if (unfinished.length > 0)
    failures.push(
      `jobs not done: ${some(unfinished.map(({ kind, id, state, error = '' }) => `${kind} ${id} ${state} ${error}`))}`,
    )
  for (const kind of ['replay', 'resend'] as const)
    if (!evidence.jobs.some(job => job.kind === kind)) failures.push(`no ${kind} has ended`)
  failures.push(...failuresOfLedger(evidence))
  const recovery = recoveryOf(evidence)
  const order = orderOf(evidence)
  const latest = latestOf(evidence)
  failures.push(...recovery.failures, ...order.failures, ...latest.failures)
  const { excess, inProgress, ours } = repeated
  const number = (kind: EndedJob['kind']): number => evidence.jobs.filter(job => job.kind === kind).length
  return {
    sent: targets.length,
    delivered: targets.length - lost.length,
    waiting: 0,
    deadLettered: deadLettersLeft,
    lost: lost.length,
    duplicates: excess + inProgress + ours,
    duplicated: { bySender: 0, inProgress: excess + inProgress, ours },
    ...{ orderedPairs: order.pairs, reversed: order.reversed, latestMs: latest.ms, pauseMs: null },
    unreadyMs: evidence.probes.longestUnreadyMs,
    recoveryMs: recovery.ms,
    failures,
    measured: [
      `${number('replay')} replays and ${number('resend')} resends ended`,
      `${sum(records, ({ due }) => due)} deliveries were replayed or resent. ${excess} copies were written twice, and ${inProgress} requests were repeated because of a kill`,
      `the ledger was read ${evidence.ledgers.length} times, ${completeOf(evidence.ledgers).length} times completely. At the end: ${countsOf(evidence.finalLedger)}`,
    ],
  }
}

const countsOf = (ledger: object = {}): string =>
  Object.entries(ledger)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ')

/**
 * Each killed dispatcher explains some repeated requests, and each killed operator process some
 * repeated copies.
 */
function repetitions({ destinations, calls, injected, records, moved, patience, kills }: JobsEvidence) {
  const requests = new Map([...Map.groupBy(calls, targetOf)].map(([target, all]) => [target, all.length]))
  const written = (target: string): number => {
    const { events = 1, copies = 0 } = records.get(target) ?? {}
    return events + copies
  }
  const beyond = [...requests].reduce((all, [target, count]) => all + Math.max(0, count - written(target)), 0)
  const ours = destinations.flatMap(destination => {
    const deliveries = calls.filter(call => call.destination === destination)
    const copies = new Map(deliveries.map(({ id }) => [id, written(targetOf({ id, destination }))]))
    return attributed({ deliveries, injected, copies, retried: moved, patience }).ours
  })
  // All repeated requests except `ours` were in progress at a kill. The `inProgress` of
  // `attributed` is not used: it may also count requests for copies that jobs wrote.
  const inProgress = beyond - ours.length
  const short = [...records].filter(([target, { events, due }]) => (requests.get(target) ?? 0) < events + due)
  const excess = sum(records, ({ copies, due }) => Math.max(0, copies - due))
  const failures: string[] = []
  if (ours.length > 0) failures.push(`duplicated without a known cause: ${some(ours)}`)
  if (short.length > 0)
    failures.push(`not replayed or resent: ${some(short.map(([target, each]) => `${target} ${inWords(each)}`))}`)
  const limit = {
    excess: kills.operators * copiesInProgress,
    inProgress: kills.dispatchers * inProgressOfOne * patience,
  }
  if (excess > limit.excess)
    failures.push(
      `copies that ${kills.operators} killed operator processes wrote twice: ${excess}, limit ${limit.excess}`,
    )
  if (inProgress > limit.inProgress)
    failures.push(
      `duplicates that ${kills.dispatchers} killed dispatchers had in progress: ${inProgress}, limit ${limit.inProgress}`,
    )
  return { inProgress, ours: ours.length, excess, failures }
}

function recoveryOf({ injected, limits, patience }: JobsEvidence) {
  const never = injected.filter(({ recoveredAt }) => recoveredAt === undefined)
  if (never.length > 0)
    return { ms: null, failures: [`a fault did not recover: ${never.map(({ what }) => what).join(', ')}`] }
  const ms = Math.round(Math.max(0, ...injected.map(({ from, recoveredAt = from }) => recoveredAt - from)))
  const limit = limits.recoveryMs * patience
  return { ms, failures: ms > limit ? [`a fault recovered after ${ms} ms, limit ${limit} ms`] : [] }
}

/**
 * Judges the order of messages at the destinations without jobs. At the others, a job may repeat a
 * message at any time.
 */
function orderOf({ order, calls, injected, patience }: JobsEvidence) {
  const { pairs, possible, reversed } = judgeOrder({ ...order, calls, injected, patience })
  const failures = [...failuresOfPairs({ pairs, possible })]
  if (reversed.length > 0) failures.push(`out of order for their user: ${some(reversed)}`)
  return { pairs, reversed: reversed.length, failures }
}

/** Judges how late each destination got the first request for each event, whatever the response. */
function latestOf({ calls, limits, patience }: JobsEvidence) {
  const late = [...Map.groupBy(calls, targetOf).values()].map(
    ([first]) => (first?.at ?? 0) - (first?.sent.acknowledgedAt ?? first?.at ?? 0),
  )
  const ms = Math.round(late.reduce((most, each) => Math.max(most, each), 0))
  const limit = limits.latestMs * patience
  return {
    ms,
    failures:
      ms > limit
        ? [`the slowest first request of an event began ${ms} ms after its acknowledgement, limit ${limit} ms`]
        : [],
  }
}

/**
 * Judges the ledger. Two counts have a tolerance for each killed dispatcher:
 * - `repeated`: the next owner of a partition may write retry records again.
 * - `delivered`: requests after the dispatcher's last commit are not counted.
 */
function failuresOfLedger(evidence: JobsEvidence): readonly string[] {
  const { ledgers, finalLedger, admitted, records, calls, kills, patience } = evidence
  const failures: string[] = []
  const wrong = ledgers.filter(({ difference = 0 }) => difference !== 0)
  if (wrong.length > 0)
    failures.push(`the ledger had a difference during the run: ${some(wrong.map(each => JSON.stringify(each)))}`)
  const complete = completeOf(ledgers).length
  if (complete < 2) failures.push(`the ledger was read completely only ${complete} times during the run`)
  if (finalLedger === undefined) return [...failures, 'the ledger was not read at the end']
  const { difference, waiting, partial } = finalLedger
  const isComplete = partial === undefined && waiting === 0 && finalLedger.admitted === admitted
  if (difference !== 0 || !isComplete)
    failures.push(`the ledger at the end, with ${admitted} deliveries to admit: ${JSON.stringify(finalLedger)}`)
  const copies = sum(records, each => each.copies)
  if (finalLedger.replayed !== copies)
    failures.push(`the ledger counts ${finalLedger.replayed} copies of jobs, and the retry topics have ${copies}`)
  const { repeated, delivered } = finalLedger
  const limit = kills.dispatchers * inProgressOfOne * patience
  if (repeated > limit)
    failures.push(
      `copies that ${kills.dispatchers} killed dispatchers wrote twice, by the ledger: ${repeated}, limit ${limit}`,
    )
  const accepted = calls.filter(isSuccess).length
  if (delivered > accepted || delivered < accepted - limit)
    failures.push(
      `the ledger counts ${delivered} delivered, and the endpoints accepted ${accepted} requests (${kills.dispatchers} killed dispatchers)`,
    )
  return failures
}

const completeOf = (ledgers: JobsEvidence['ledgers']): JobsEvidence['ledgers'] =>
  ledgers.filter(({ difference }) => difference !== undefined)

const inWords = ({ events, copies, due }: JobRecords): string => `${events} events, ${copies} copies, ${due} due`

const sum = (records: JobsEvidence['records'], of: (each: JobRecords) => number): number =>
  [...records.values()].reduce((all, each) => all + of(each), 0)
