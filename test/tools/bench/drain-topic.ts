import type { Forwarder, ForwarderProcess, Job } from './forwarders/forwarder.ts'
import { cpuSeconds, micros, peakMb, residentMb, together } from './process-usage.ts'
import { type Receiver, Stalled } from './receiver/receiver.ts'
import type { Connections, SampleRequest } from './receiver/receiver-protocol.ts'
import type { Point } from './statistics.ts'

const memoryEveryMs = 200

export interface DrainPlan {
  /** Number of the first event. Default: 0. */
  readonly first?: number
  readonly count: number
  readonly delayMs: number
  /**
   * One of this number of events succeeds at its first request, in the second half of the run.
   * Default: 0, all succeed.
   */
  readonly passesOneIn?: number
  /** A response closes its connection if the connection is at least this old. Default: never. */
  readonly connectionLifeMs?: number
  /**
   * Numbers of deliveries at which the measured part begins and ends. Default: 30 % and 95 % of
   * `count`.
   */
  readonly measured?: { readonly from?: number; readonly to?: number }
  readonly samplesMemory?: boolean
}

export interface Drain {
  /**
   * Deliveries per second of the forwarder's CPU time in the measured part. 0 if the run ended too
   * early.
   */
  readonly perCpuSecond: number
  /** Share of each process in the forwarder's CPU time, from 0 to 1, in the measured part. */
  readonly cpuShares: readonly number[]
  /** Deliveries per second of wall time in the measured part. */
  readonly perSecond: number
  /** CPU seconds from the start of the measured part to the last delivery. */
  readonly cpuToTheEnd: number
  readonly peakMb: number
  /** Seconds from the start of the process to the first delivery. */
  readonly firstAfter: number
  readonly lost: number
  readonly duplicates: number
  /** Requests for unexpected events. */
  readonly foreign: number
  /** New connections of the measured part, divided by its deliveries. */
  readonly newConnections: number
  /** TLS handshakes without session resumption in the measured part, divided by its deliveries. */
  readonly fullHandshakes: number
  /** Requests that got a 503. */
  readonly refused: number
  /** `x` is the number of deliveries, and `y` the resident memory in MB. */
  readonly memory: readonly Point[]
  readonly sample: SampleRequest | undefined
  /** The measured part, in µs of the monotonic clock, which CPU profiles use too. */
  readonly window: { readonly from: number; readonly to: number }
  /** Path of the CPU profile. Undefined without a profile. */
  readonly profile: string | undefined
}

/**
 * Runs the forwarder until all events are delivered, or until 45 s pass without a delivery.
 * Undelivered events count as `lost`. @throws when the forwarder exits by itself
 */
export async function drain(forwarder: Forwarder, job: Job, plan: DrainPlan): Promise<Drain> {
  const { receiver } = job.stage
  const { first = 0, count, delayMs, passesOneIn = 0, connectionLifeMs } = plan
  const { from = Math.ceil(count * 0.3), to = Math.ceil(count * 0.95) } = plan.measured ?? {}
  const marks = [...new Set([1, from, to, count])]
  const script = { first, count, delayMs, passesOneIn, isDead: false, marks, keepsLog: false, waitsForWatch: true }
  await receiver.begin({ ...script, ...(connectionLifeMs !== undefined && { connectionLifeMs }) })
  const process = await forwarder.start(job)
  // This process could read the CPU time too late, after further deliveries.
  receiver.watch(process.pids)
  const memory = plan.samplesMemory ? sampleMemory(process, receiver) : undefined
  const reached = async (mark: number) => {
    const at = await Promise.race([receiver.reached(mark), process.died])
    return { at, cpu: receiver.cpuAt(mark), micros: micros(), connections: receiver.connectionsAt(mark) }
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
      ? { ...{ perCpuSecond: 0, cpuShares: [], perSecond: 0, window: { from: 0, to: 0 } }, ...noConnections }
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
  /** CPU seconds of each process. */
  readonly cpu: readonly number[]
  readonly micros: number
  readonly connections: Connections
}

const noConnections = { newConnections: Number.NaN, fullHandshakes: Number.NaN }

function rates(deliveries: number, begin: Mark, end: Mark) {
  const each = end.cpu.map((seconds, index) => seconds - (begin.cpu[index] ?? 0))
  return {
    perCpuSecond: deliveries / sum(each),
    cpuShares: each.map(seconds => seconds / sum(each)),
    perSecond: (deliveries / (end.at - begin.at)) * 1_000,
    window: { from: begin.micros, to: end.micros },
    ...connectionRates(deliveries, begin.connections, end.connections),
  }
}

function connectionRates(deliveries: number, begin: Connections, end: Connections) {
  const [opened, resumed] = [end.opened - begin.opened, end.resumed - begin.resumed]
  return { newConnections: opened / deliveries, fullHandshakes: (opened - resumed) / deliveries }
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
      // The process has just exited. `drain` gets the error from `died`.
    }
  }, memoryEveryMs)
  return { points, stop: () => clearInterval(timer) }
}
