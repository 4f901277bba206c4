import { type Coefficients, deliveryMicros } from './coefficients.ts'
import { type Course, courseOf } from './outage.ts'

/** What an installation is to do. */
export interface Load {
  readonly eventsPerSecond: number
  /** Destinations that each event goes to. */
  readonly destinations: number
  /** How long endpoints take to answer. */
  readonly answerMs: number
  /** Members of all audiences, at each destination of theirs. */
  readonly members: number
  /** Part of the deliveries that is for endpoints which fail, and for how long. */
  readonly outage: { readonly share: number; readonly hours: number }
}

/** What is not measured but chosen. */
export interface Choices {
  /** CPU that a process may take on the long run; the rest is for peaks and for the partitions of one that has failed. */
  readonly utilisation: number
  readonly replicas: number
  readonly retentionDays: number
  /** `delivery.maxInFlight`: one of these, the smallest that does not ask for more processes. */
  readonly inFlight: readonly number[]
  /** What one broker takes in, replication included, in MB a second: nothing that was measured here. */
  readonly brokerMb: number
  /** What one process of the audiences service may hold, in MB. */
  readonly audiencesMb: number
  readonly windowHours: number
}

export const usualChoices: Choices = {
  utilisation: 0.6,
  replicas: 3,
  retentionDays: 7,
  inFlight: [512, 4_096],
  brokerMb: 100,
  audiencesMb: 1_024,
  windowHours: 4,
}

export interface Plan {
  readonly deliveriesPerSecond: number
  /** Calls under way, on average. */
  readonly calls: number
  readonly dispatchers: Fleet & { readonly inFlight: number }
  readonly collectors: Fleet
  readonly audiences: {
    readonly processes: number
    /** Of members, of each; what a process has without any comes on top. */
    readonly mb: number
    /** Until a process that starts has its members again, as far as its CPU goes. */
    readonly restoreSeconds: number
  }
  readonly partitions: number
  readonly brokers: {
    /** Without an outage, replication included. As much is read: once by the dispatchers, and by each replica beyond the first. */
    readonly inMb: number
    readonly diskTb: number
    readonly count: number
  }
  readonly outage: Course & {
    /** Records written to retry topics for each delivery that failed. */
    readonly amplification: number
    /** Of the dispatchers, on top, when most is parked. */
    readonly cores: number
    readonly inMb: number
    readonly diskTb: number
  }
}

export interface Fleet {
  readonly processes: number
  /** Used, on average. */
  readonly cores: number
  /** At most, of each. */
  readonly mb: number
}

const secondsADay = 86_400

/** What it takes to do it, by what things were measured to cost. Processes are sized for the outage too. */
export function planFor(load: Load, coefficients: Coefficients, choices: Choices = usualChoices): Plan {
  const { utilisation, replicas } = choices
  const deliveriesPerSecond = load.eventsPerSecond * load.destinations
  const calls = (deliveriesPerSecond * load.answerMs) / 1_000
  const perSecond = deliveriesPerSecond * load.outage.share
  const course = courseOf({ perSecond, hours: load.outage.hours, windowHours: choices.windowHours })
  const outageCores = (course.mostParkedPerSecond * coefficients.park) / 1e6
  const cores = (deliveriesPerSecond * deliveryMicros(coefficients, load.answerMs)) / 1e6
  const dispatchers = dispatchersFor({ cores, outageCores, calls }, coefficients, choices)
  const collecting = (load.eventsPerSecond * coefficients.collect) / 1e6
  const inMb = (load.eventsPerSecond * coefficients.eventBytes * replicas) / 1e6
  const outageInMb = (course.mostParkedPerSecond * coefficients.parkedBytes * replicas) / 1e6
  return {
    deliveriesPerSecond,
    calls,
    dispatchers,
    collectors: {
      processes: atLeastTwo(collecting / utilisation),
      cores: collecting,
      mb: coefficients.collectorMb,
    },
    audiences: audiencesFor(load.members, coefficients, choices),
    partitions: partitionsFor(dispatchers.processes),
    brokers: {
      inMb,
      diskTb: (inMb * secondsADay * choices.retentionDays) / 1e6,
      count: Math.max(replicas, Math.ceil((inMb + outageInMb) / choices.brokerMb)),
    },
    outage: {
      ...course,
      amplification: perSecond === 0 ? 0 : course.parked / (perSecond * load.outage.hours * 3_600),
      cores: outageCores,
      inMb: outageInMb,
      diskTb: (course.parked * coefficients.parkedBytes * replicas) / 1e12,
    },
  }
}

/** One that fails leaves its work to another. */
const atLeastTwo = (processes: number): number => Math.max(2, Math.ceil(processes))

/** A process has no more than one core; a destination gets at most a part of its places, so that half of them are counted on. */
function dispatchersFor(
  { cores, outageCores, calls }: { readonly cores: number; readonly outageCores: number; readonly calls: number },
  { memory }: Coefficients,
  { utilisation, inFlight }: Choices,
): Plan['dispatchers'] {
  const byCpu = atLeastTwo((cores + outageCores) / utilisation)
  const chosen = inFlight.find(each => byCpu * each * 0.5 >= calls) ?? inFlight.at(-1) ?? Number.NaN
  const processes = Math.max(byCpu, Math.ceil(calls / (chosen * 0.5)))
  return { processes, cores, mb: memory.base + memory.eachCall * chosen, inFlight: chosen }
}

function audiencesFor(members: number, { memberBytes, restore }: Coefficients, choices: Choices): Plan['audiences'] {
  if (members === 0) return { processes: 0, mb: 0, restoreSeconds: 0 }
  const megabytes = (members * memberBytes) / 1e6
  const processes = atLeastTwo(megabytes / choices.audiencesMb)
  return { processes, mb: megabytes / processes, restoreSeconds: (members * restore) / 1e6 / processes }
}

/** Each process has at least two, so that they can be shared evenly and there is room to grow; in dozens, which many numbers divide. */
const partitionsFor = (processes: number): number => Math.ceil((processes * 2) / 12) * 12
