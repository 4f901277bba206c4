import type { Forwarder, ForwarderProcess, Job } from './forwarders/forwarder.ts'
import { cpuSeconds, micros, peakMb, residentMb, together } from './process-figures.ts'
import type { SampleRequest } from './receiver/protocol.ts'
import { type Receiver, Stalled } from './receiver/receiver.ts'
import type { Point } from './statistics.ts'

const memoryEveryMs = 200

export interface DrainPlan {
  /** The number of the first event that the forwarder has not delivered yet; 0. */
  readonly first?: number
  /** All that there are from it on. */
  readonly count: number
  readonly delayMs: number
  readonly passesOneIn?: number
  /** Of the deliveries of this run, those that are measured: after start and warm-up, before the end runs out. From 30 % to 95 %. */
  readonly measured?: { readonly from?: number; readonly to?: number }
  /** Whether resident memory is noted again and again. */
  readonly samplesMemory?: boolean
}

export interface Drain {
  /** Deliveries in the steady part for each second of the forwarder's CPU (user and system); 0 when it did not get through. */
  readonly perCpuSecond: number
  /** Which part of that CPU each process of the forwarder has taken. */
  readonly cpuShares: readonly number[]
  /** Deliveries in the steady part for each second on the wall. */
  readonly perSecond: number
  /** CPU seconds from the beginning of the steady part to the last delivery of all. */
  readonly cpuToTheEnd: number
  readonly peakMb: number
  /** From the start of the process to the first delivery, in seconds. */
  readonly firstAfter: number
  readonly lost: number
  readonly duplicates: number
  /** Requests about no event that was to come. */
  readonly foreign: number
  /** Requests that were answered 503. */
  readonly refused: number
  /** Resident MB over deliveries. */
  readonly memory: readonly Point[]
  readonly sample: SampleRequest | undefined
  /** The steady part on the monotonic clock, in microseconds, as CPU profiles have it. */
  readonly window: { readonly from: number; readonly to: number }
  readonly profile: string | undefined
}

/** Starts the forwarder on a filled topic and lets it deliver everything. @throws when it ends by itself */
export async function drain(forwarder: Forwarder, job: Job, plan: DrainPlan): Promise<Drain> {
  const { receiver } = job.stage
  const { first = 0, count, delayMs, passesOneIn = 0 } = plan
  const { from = Math.ceil(count * 0.3), to = Math.ceil(count * 0.95) } = plan.measured ?? {}
  const marks = [...new Set([1, from, to, count])]
  await receiver.begin({ first, count, delayMs, passesOneIn, isDead: false, marks, keepsLog: false })
  const process = await forwarder.start(job)
  const memory = plan.samplesMemory ? sampleMemory(process, receiver) : undefined
  const reached = async (mark: number) => {
    const at = await Promise.race([receiver.reached(mark), process.died])
    return { at, cpu: process.pids.map(cpuSeconds), micros: micros() }
  }

  const seen = { first: 0, begin: undefined as Mark | undefined, end: undefined as Mark | undefined }
  try {
    seen.first = (await reached(1)).at
    seen.begin = await reached(from)
    seen.end = await reached(to)
    await reached(count)
  } catch (error) {
    if (!(error instanceof Stalled)) {
      await process.stop()
      throw error
    }
  } finally {
    memory?.stop()
  }
  const atTheEnd = { cpu: together(process.pids, cpuSeconds), peakMb: together(process.pids, peakMb) }
  await process.stop()
  const { tally, sample } = await receiver.tell()
  const { begin, end } = seen
  return {
    cpuToTheEnd: atTheEnd.cpu - sum(seen.begin?.cpu ?? []),
    peakMb: atTheEnd.peakMb,
    ...(begin === undefined || end === undefined
      ? { perCpuSecond: 0, cpuShares: [], perSecond: 0, window: { from: 0, to: 0 } }
      : rates(to - from, begin, end)),
    firstAfter: (seen.first - process.startedAt) / 1_000,
    lost: count - tally.delivered,
    duplicates: tally.duplicates,
    foreign: tally.foreign,
    refused: tally.refused,
    memory: memory?.points ?? [],
    sample,
    profile: process.profile,
  }
}

interface Mark {
  readonly at: number
  /** Seconds, of each process. */
  readonly cpu: readonly number[]
  readonly micros: number
}

function rates(deliveries: number, begin: Mark, end: Mark) {
  const each = end.cpu.map((seconds, index) => seconds - (begin.cpu[index] ?? 0))
  return {
    perCpuSecond: deliveries / sum(each),
    cpuShares: each.map(seconds => seconds / sum(each)),
    perSecond: (deliveries / (end.at - begin.at)) * 1_000,
    window: { from: begin.micros, to: end.micros },
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0)

function sampleMemory(
  { pids }: ForwarderProcess,
  receiver: Receiver,
): { readonly points: readonly Point[]; stop(): void } {
  const points: Point[] = []
  const timer = setInterval(() => {
    try {
      points.push({ x: receiver.delivered(), y: together(pids, residentMb) })
    } catch {
      // It has just ended by itself, and whoever waits for it is told so.
    }
  }, memoryEveryMs)
  return { points, stop: () => clearInterval(timer) }
}
