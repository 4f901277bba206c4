import type { ForwarderProcess } from './forwarders/forwarder.ts'
import type { Installation } from './installation-topics.ts'
import { cpuSeconds, micros, peakMb, together } from './process-usage.ts'
import type { SuccessLog } from './receiver/event-tally.ts'
import { Stalled } from './receiver/receiver.ts'
import { percentile } from './statistics.ts'
import type { Stage } from './test-bed.ts'

export interface LivePlan {
  readonly perSecond: number
  readonly seconds: number
  readonly delayMs: number
  /** Default: all sources in turn. */
  readonly source?: string
  /** Number of events for the endpoint that does not respond during the load. */
  readonly eventsForFailing?: number
  readonly duringLoad?: () => Promise<unknown>
}

/** An event of the load, and its latency. */
export interface Passage {
  readonly number: number
  /** From the broker's append to the first success. Undefined without a success. */
  readonly ms: number | undefined
}

export interface Live {
  readonly passages: readonly Passage[]
  readonly log: SuccessLog
  readonly duplicates: number
  /** Undelivered events, without those for the failing endpoint. */
  readonly lost: number
}

const warmUp = 1_000

/**
 * Warms the process up before a measurement. With `elsewhereOneIn` n, every n-th event goes to
 * another receiver and is not awaited. @throws Stalled
 */
export async function warm(
  { receiver }: Stage,
  installation: Installation,
  process: ForwarderProcess,
  delayMs: number,
  elsewhereOneIn = Number.POSITIVE_INFINITY,
): Promise<void> {
  const [first, count] = [installation.appended(), warmUp]
  const expected = Math.floor(count - count / elsewhereOneIn)
  await receiver.begin({ first, count, delayMs, passesOneIn: 0, isDead: false, marks: [expected], keepsLog: false })
  await installation.fill(count)
  await Promise.race([receiver.reached(expected), process.died])
}

/** Appends events at an even rate and records each delivery. `warm` must be called before. */
export async function live(stage: Stage, installation: Installation, plan: LivePlan): Promise<Live> {
  const { perSecond, seconds, delayMs, source, eventsForFailing = 0 } = plan
  const [first, count] = [installation.appended(), perSecond * seconds]
  const deliverable = count - eventsForFailing
  const marks = [deliverable]
  await stage.receiver.begin({
    first,
    count,
    delayMs,
    passesOneIn: 0,
    isDead: eventsForFailing > 0,
    marks,
    keepsLog: true,
  })
  await Promise.all([installation.feed(count, perSecond, source), plan.duringLoad?.()])
  await stage.receiver.reached(deliverable).catch(error => {
    if (!(error instanceof Stalled)) throw error
  })
  const { tally } = await stage.receiver.tell()
  const passages = passagesOf(await installation.appendTimes(), tally.log, first, count)
  return { passages, log: tally.log, duplicates: tally.duplicates, lost: deliverable - tally.delivered }
}

export function passagesOf(
  appended: ReadonlyMap<number, number>,
  { numbers, times }: Pick<SuccessLog, 'numbers' | 'times'>,
  first: number,
  count: number,
): readonly Passage[] {
  const delivered = new Map<number, number>()
  numbers.forEach((number, index) => {
    if (!delivered.has(number)) delivered.set(number, times[index] as number)
  })
  return Array.from({ length: count }, (_, index) => {
    const number = first + index
    const [from, to] = [appended.get(number), delivered.get(number)]
    return { number, ms: from === undefined || to === undefined ? undefined : to - from }
  })
}

/** Quantile of the latency in ms. A missing delivery counts as infinite. */
export const quantile = (passages: readonly Passage[], share: number): number =>
  percentile(
    passages.map(({ ms }) => ms ?? Number.POSITIVE_INFINITY),
    share,
  )

/** The usage of all processes of the forwarder (the measured program) together. */
export interface Reading {
  /** CPU seconds per second. */
  readonly cpuShare: number
  readonly peakMb: number
  /** The period in µs of the monotonic clock, which CPU profiles use too. */
  readonly window: { readonly from: number; readonly to: number }
}

/** Measures from now until the call of the returned function. */
export function meter({ pids }: ForwarderProcess): () => Reading {
  const begin = { cpu: together(pids, cpuSeconds), at: micros() }
  return () => {
    const at = micros()
    const cpuShare = ((together(pids, cpuSeconds) - begin.cpu) / (at - begin.at)) * 1e6
    return { cpuShare, peakMb: together(pids, peakMb), window: { from: begin.at, to: at } }
  }
}
