import { setTimeout as pause } from 'node:timers/promises'
import { defaultResendRate } from '../../../../src/core/jobs/max-and-default-job-rates.ts'
import { operatorKey } from '../../../support/operator/scripted-deletion-and-audience-api.ts'
import { askObjects } from '../../../support/operator/send-operator-api-request.ts'
import { bounds } from '../bounds.ts'
import { cheapestOf } from '../delivery-cost-by-parameter.ts'
import { secret } from '../forwarders/hookline.ts'
import { type OperatorProcess, startOperator } from '../forwarders/operator-process.ts'
import { startReady } from '../forwarders/ready-process.ts'
import { createInstallation, type Installation } from '../installation-topics.ts'
import { type Live, live, type Passage, quantile } from '../latency-under-load.ts'
import { type Receiver, Stalled, startReceiver } from '../receiver/receiver.ts'
import { shown } from '../report.ts'
import { median } from '../statistics.ts'
import { type Bench, type Outcome, scaled } from './row.ts'

const load = { perSecond: 1_000, delayMs: 20, source: 's0' }
/** The source and the destination of the events that are resent. */
const earlier = { source: 's1', destination: 'other' }
const inFlight = 512
/**
 * Resends per repetition. Each is compared with a load directly before or after it, so that
 * disturbances affect both.
 */
const partsPerRun = 4
/**
 * Seconds by which the load exceeds the expected duration of the resend. Half of them pass before
 * the resend.
 */
const margin = 4
const pollMs = 250

/** The events that are resent. */
interface Earlier {
  readonly first: number
  readonly count: number
  /** The time span in which the events were received, from `since` to `until`, ISO 8601. */
  readonly since: string
  readonly until: string
}

interface Round {
  readonly without: Live
  readonly beside: Live
  /** The live events while the resend ran. */
  readonly during: readonly Passage[]
  readonly seconds: number
  readonly sent: number
  /**
   * `lost`: resent events that the endpoint did not get. `duplicates`: deliveries beyond one per
   * resent event.
   */
  readonly lost: number
  readonly duplicates: number
}

/** Measures live traffic to one destination while 100,000 events are resent to another one. */
export async function resendRow(bench: Bench): Promise<Outcome> {
  const { stage, say } = bench
  const transport = cheapestOf(bench)
  const count = scaled(bench, 100_000)
  const installation = await createInstallation(stage, { sources: 2, operatorKey })
  const receiver = await startReceiver()
  const job = { stage, installation, inFlight, perWebhook: 64 }
  const destinations = [
    { id: 'live', sources: [load.source], sharedSecret: secret, webhooks: [{ url: stage.receiver.url }] },
    {
      ...{ id: earlier.destination, sources: [earlier.source], sharedSecret: secret },
      webhooks: [{ url: receiver.url }],
    },
  ]
  const processes: { stop(): Promise<void> }[] = []
  try {
    const dispatcher = await startReady(job, transport, 'dispatcher', { destinations })
    processes.push(dispatcher)
    // The operator process shares the dispatcher's core, because the broker, the receiver and the
    // producer keep the other core busy.
    const operator = await startOperator(job, transport, destinations)
    processes.push(operator)
    const partCount = bench.runs * partsPerRun
    const parts: Earlier[] = []
    while (parts.length < partCount)
      parts.push(await deliverEarlier(installation, receiver, Math.ceil(count / partCount)))
    await live(stage, installation, { ...load, seconds: margin }) // The warm-up of the live destination.
    const rounds: Round[] = []
    for (const events of parts) {
      const round = await measureRound({ bench, installation, operator, receiver, events }, rounds.length % 2 === 0)
      rounds.push(round)
      say(
        `${transport}, part ${rounds.length}: p99 ${quantile(round.without.passages, 0.99).toFixed(1)} ms, during a resend ${quantile(round.during, 0.99).toFixed(1)} ms; resend took ${round.seconds.toFixed(1)} s`,
      )
    }
    return outcomeOf(`hookline ${transport}, ${shown(count)} events resent`, rounds)
  } finally {
    await Promise.all(processes.map(each => each.stop()))
    await receiver.stop()
    await installation.close()
  }
}

/** Appends the events that are resent later, and waits for their first delivery. */
async function deliverEarlier(installation: Installation, receiver: Receiver, count: number): Promise<Earlier> {
  const first = installation.appended()
  await expectEvents(receiver, first, count)
  const since = new Date().toISOString()
  await installation.fill(count, earlier.source)
  await receiver.reached(count)
  return { first, count, since, until: new Date().toISOString() }
}

const expectEvents = (receiver: Receiver, first: number, count: number): Promise<void> =>
  receiver.begin({
    first,
    count,
    delayMs: load.delayMs,
    passesOneIn: 0,
    isDead: false,
    marks: [count],
    keepsLog: false,
  })

interface Resending {
  readonly bench: Bench
  readonly installation: Installation
  readonly operator: OperatorProcess
  readonly receiver: Receiver
  readonly events: Earlier
}

/**
 * Measures one load without and one with a resend. `isBefore`: the load without a resend runs
 * first.
 */
async function measureRound(resending: Resending, isBefore: boolean): Promise<Round> {
  const { bench, installation, events } = resending
  const measureWithout = (): Promise<Live> =>
    live(bench.stage, installation, { ...load, seconds: secondsToResend(events) })
  const before = isBefore ? await measureWithout() : undefined
  const beside = await resendRound(resending)
  return { ...beside, without: before ?? (await measureWithout()) }
}

const secondsToResend = ({ count }: Earlier): number => Math.ceil((count / defaultResendRate) * 1.05)

/** Resends the events under the live load. The load begins before the resend, and ends after it. */
async function resendRound({
  bench,
  installation,
  operator,
  receiver,
  events,
}: Resending): Promise<Omit<Round, 'without'>> {
  await expectEvents(receiver, events.first, events.count)
  const beganAt = Date.now()
  let job: EndedJob | undefined
  const duringLoad = async (): Promise<void> => {
    await pause((margin / 2) * 1_000)
    job = await resend(operator.url, events)
  }
  const seconds = secondsToResend(events) + margin
  const beside = await live(bench.stage, installation, { ...load, seconds, duringLoad })
  if (job === undefined) throw new Error('the resend did not run')
  await receiver.reached(events.count).catch(error => {
    if (!(error instanceof Stalled)) throw error
  })
  const { tally } = await receiver.tell()
  const [from, to] = [job.startedAt - beganAt, job.endedAt - beganAt]
  return {
    ...{ beside, during: passagesBetween(beside.passages, load.perSecond, from, to), sent: job.sent },
    ...{ seconds: (to - from) / 1_000, lost: events.count - tally.delivered, duplicates: tally.duplicates },
  }
}

/**
 * Returns the passages of events with append times between `from` and `to`. Both are in ms since
 * the load began, and the load appends at an even rate.
 */
export const passagesBetween = (
  passages: readonly Passage[],
  perSecond: number,
  from: number,
  to: number,
): readonly Passage[] => {
  const indexAt = (ms: number): number => Math.max(0, Math.round((ms / 1_000) * perSecond))
  return passages.slice(indexAt(from), indexAt(to))
}

interface EndedJob {
  /** In milliseconds since 1970. */
  readonly startedAt: number
  readonly endedAt: number
  readonly sent: number
}

/**
 * Resends the events at the default rate. Resolves when the job has ended. @throws when the job
 * failed
 */
async function resend(url: string, { since, until }: Earlier): Promise<EndedJob> {
  const wanted = { destination: earlier.destination, since, until }
  const { status, body: created } = await askObjects({ url }, 'POST /v1/resends', wanted)
  if (status !== 202) throw new Error(`the operator API answered the resend with ${status}: ${JSON.stringify(created)}`)
  for (;;) {
    const { body } = await askObjects({ url }, `GET /v1/resends/${created.id}`)
    if (body.state === 'failed' || body.state === 'cancelled')
      throw new Error(`the resend ${body.state}: ${body.error}`)
    if (body.state === 'done')
      return { startedAt: Date.parse(body.startedAt), endedAt: Date.parse(body.endedAt), sent: body.progress.sent }
    await pause(pollMs)
  }
}

function outcomeOf(subject: string, rounds: readonly Round[]): Outcome {
  const p99 = (passages: readonly Passage[]): number => quantile(passages, 0.99)
  const ratio = median(rounds.map(({ during, without }) => p99(during) / p99(without.passages)))
  const worst = (of: (round: Round) => number): number => Math.max(...rounds.map(of))
  const reference = {
    name: 'no resend',
    measured: median(rounds.map(({ without }) => p99(without.passages))),
    unit: 'ms',
  }
  const liveLost = worst(({ without, beside }) => Math.max(without.lost, beside.lost))
  const liveDuplicates = worst(({ without, beside }) => Math.max(without.duplicates, beside.duplicates))
  return {
    findings: [
      {
        subject,
        what: 'p99 of the live events',
        unit: 'ms',
        measured: median(rounds.map(({ during }) => p99(during))),
      },
      {
        subject,
        what: 'p99 of the live events, relative to no resend',
        measured: ratio,
        reference,
        ...bounds.besideResend,
      },
      {
        subject,
        what: 'duration of the resend',
        unit: 's',
        measured: rounds.reduce((sum, { seconds }) => sum + seconds, 0),
      },
      { subject, what: 'resent events not delivered', measured: worst(({ lost }) => lost), ...bounds.lost },
      {
        ...{ subject, what: 'resent events delivered twice', measured: worst(({ duplicates }) => duplicates) },
        ...bounds.duplicates,
      },
      { subject, what: 'lost', measured: liveLost, ...bounds.lost },
      { subject, what: 'duplicated', measured: liveDuplicates, ...bounds.duplicates },
    ],
    figures: rounds.map((each, index) => ({
      part: index + 1,
      'p99 ms': p99(each.without.passages),
      'p99 ms during a resend': p99(each.during),
      's to resend': each.seconds,
      resent: each.sent,
      'resent events not delivered': each.lost,
      'resent events delivered twice': each.duplicates,
    })),
  }
}
