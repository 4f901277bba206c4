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
  /** The source of all events. Default: all sources in turn. */
  readonly source?: string
  /** Number of events for the endpoint that stops responding when the load begins. */
  readonly eventsForFailing?: number
  /** Called when the load begins. */
  readonly duringLoad?: () => Promise<unknown>
}

/** One event of an even load, and its latency. */
export interface Passage {
  readonly number: number
  /** Milliseconds from the broker's append to the first success. Undefined if there was none. */
  readonly ms: number | undefined
}

export interface Live {
  /** One entry for each event of the load, in the order of the events. */
  readonly passages: readonly Passage[]
  readonly log: SuccessLog
  readonly duplicates: number
  /** Number of events that were not delivered, without those for the failing endpoint. */
  readonly lost: number
}

/** Number of events that warm up the code of the forwarder. */
const warmUp = 1_000

/**
 * Appends events and waits until the forwarder has delivered them, so that the measurement excludes
 * the start of the forwarder. If `elsewhereOneIn` is n, every n-th event goes to another receiver,
 * and the function does not wait for these events. @throws Stalled
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

/**
 * Appends events at an even rate and records the delivery of each. Call `warm` first, so that the
 * forwarder already delivers.
 */
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

/** Quantile of the latency in milliseconds. A missing delivery counts as infinite. */
export const quantile = (passages: readonly Passage[], share: number): number =>
  percentile(
    passages.map(({ ms }) => ms ?? Number.POSITIVE_INFINITY),
    share,
  )

/** CPU use and memory of all processes of the measured program (the forwarder) together. */
export interface Reading {
  /** CPU seconds per second of the period. */
  readonly cpuShare: number
  readonly peakMb: number
  /**
   * Start and end of the period, in microseconds of the monotonic clock. CPU profiles use the same
   * clock.
   */
  readonly window: { readonly from: number; readonly to: number }
}

/**
 * Measures the processes of a forwarder, which is the measured program. The measurement lasts from
 * now until the returned function is called.
 */
export function meter({ pids }: ForwarderProcess): () => Reading {
  const begin = { cpu: together(pids, cpuSeconds), at: micros() }
  return () => {
    const at = micros()
    const cpuShare = ((together(pids, cpuSeconds) - begin.cpu) / (at - begin.at)) * 1e6
    return { cpuShare, peakMb: together(pids, peakMb), window: { from: begin.at, to: at } }
  }
}
