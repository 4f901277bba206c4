import type { ForwarderProcess } from './forwarders/forwarder.ts'
import type { Installation } from './installation.ts'
import { cpuSeconds, micros, peakMb, together } from './process-figures.ts'
import type { SuccessLog } from './receiver/ledger.ts'
import { Stalled } from './receiver/receiver.ts'
import type { Stage } from './stage.ts'
import { percentile } from './statistics.ts'

export interface LivePlan {
  readonly perSecond: number
  readonly seconds: number
  readonly delayMs: number
  /** The endpoint that can die does so when the load begins; so many events are for it. */
  readonly forTheDead?: number
  /** Called when the load begins. */
  readonly meanwhile?: () => Promise<unknown>
}

/** One event's way under a live load. */
export interface Passage {
  readonly number: number
  /** From the append by the broker to the first success, in ms; undefined: it never came. */
  readonly ms: number | undefined
}

export interface Live {
  /** One for each event of the load, in their order. */
  readonly passages: readonly Passage[]
  readonly log: SuccessLog
  readonly duplicates: number
  /** Events that can be delivered and were not. */
  readonly lost: number
}

/** So many also make its code warm. */
const warmUp = 1_000

/** Waits until the forwarder works: it delivers some events. Then what follows meets no start. @throws Stalled */
export async function warm(
  { receiver }: Stage,
  installation: Installation,
  process: ForwarderProcess,
  delayMs: number,
): Promise<void> {
  const [first, count] = [installation.appended(), warmUp]
  await receiver.begin({ first, count, delayMs, passesOneIn: 0, isDead: false, marks: [count], keepsLog: false })
  await installation.fill(count)
  await Promise.race([receiver.reached(count), process.died])
}

/** Appends events evenly and follows each to its delivery; the forwarder works already. */
export async function live(stage: Stage, installation: Installation, plan: LivePlan): Promise<Live> {
  const { perSecond, seconds, delayMs, forTheDead = 0 } = plan
  const [first, count] = [installation.appended(), perSecond * seconds]
  const deliverable = count - forTheDead
  const marks = [deliverable]
  await stage.receiver.begin({ first, count, delayMs, passesOneIn: 0, isDead: forTheDead > 0, marks, keepsLog: true })
  await Promise.all([installation.feed(count, perSecond), plan.meanwhile?.()])
  await stage.receiver.reached(deliverable).catch(error => {
    if (!(error instanceof Stalled)) throw error
  })
  const { tally } = await stage.receiver.tell()
  const passages = passagesOf(await installation.appendTimes(), tally.log, first, count)
  return { passages, log: tally.log, duplicates: tally.duplicates, lost: deliverable - tally.delivered }
}

export function passagesOf(
  appended: ReadonlyMap<number, number>,
  { numbers, times }: SuccessLog,
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

/** p50, p99 and so on in ms; what never came counts as endless. */
export const quantile = (passages: readonly Passage[], share: number): number =>
  percentile(
    passages.map(({ ms }) => ms ?? Number.POSITIVE_INFINITY),
    share,
  )

/** What a process took over some time. */
export interface Reading {
  readonly cpuShare: number
  readonly peakMb: number
  /** On the monotonic clock, in microseconds, as CPU profiles have it. */
  readonly window: { readonly from: number; readonly to: number }
}

/** Reads CPU and memory of a process from now on until the returned function is called. */
export function meter({ pids }: ForwarderProcess): () => Reading {
  const begin = { cpu: together(pids, cpuSeconds), at: micros() }
  return () => {
    const at = micros()
    const cpuShare = ((together(pids, cpuSeconds) - begin.cpu) / (at - begin.at)) * 1e6
    return { cpuShare, peakMb: together(pids, peakMb), window: { from: begin.at, to: at } }
  }
}
