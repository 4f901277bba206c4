import { memoryToKeepOpen } from '../../../src/adapters/webhook/http-client-limits.ts'
import { type Coefficients, deliveryMicros, memoryForHosts } from './coefficients.ts'
import { type OutageEffect, simulateOutage } from './simulate-endpoint-outage.ts'

/** The load of an installation. */
export interface Load {
  readonly eventsPerSecond: number
  /** Number of destinations of each event. */
  readonly destinations: number
  /** Response time of the endpoints in milliseconds. */
  readonly answerMs: number
  /** Number of different hosts of the endpoints, which all use HTTPS. */
  readonly hosts: number
  /** Members of all audiences, counted once for each destination. */
  readonly members: number
  /** `share`: the part of all deliveries that fails. */
  readonly outage: { readonly share: number; readonly hours: number }
}

/** The assumptions of the model, which are chosen and not measured. */
export interface Assumptions {
  /**
   * Average share of a CPU core that a process may use. The rest is for peaks and failed processes.
   */
  readonly utilisation: number
  readonly replicas: number
  readonly retentionDays: number
  /**
   * Candidates for `delivery.maxInFlight`, in ascending order. The plan uses the smallest one that
   * suffices. If none suffices, it uses the largest and more dispatchers.
   */
  readonly inFlight: readonly number[]
  /** MB per second that one broker can receive, including replication. */
  readonly brokerMb: number
  /** Maximum memory for memberships in one process of the audiences service, in MB. */
  readonly audiencesMb: number
  readonly windowHours: number
}

export const defaultAssumptions: Assumptions = {
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
  /** Average number of concurrent requests of all dispatchers together. */
  readonly calls: number
  readonly dispatchers: Fleet & {
    readonly inFlight: number
    /** Minimum memory limit of a dispatcher's container in MB, to keep a connection to each host. */
    readonly limitMb: number
  }
  readonly collectors: Fleet
  readonly audiences: {
    readonly processes: number
    /** Memory for memberships in each process. */
    readonly mb: number
    /** CPU time that a starting process needs to restore its memberships. */
    readonly restoreSeconds: number
  }
  readonly partitions: number
  readonly brokers: {
    /**
     * MB per second that the brokers receive without an outage, including replication. The brokers
     * send the same number.
     */
    readonly inMb: number
    readonly diskTb: number
    readonly count: number
  }
  readonly outage: OutageEffect & {
    /** Average number of retry records per failed delivery. */
    readonly amplification: number
    /** Additional cores while the rate of written retry records is highest. */
    readonly cores: number
    readonly inMb: number
    readonly diskTb: number
  }
}

export interface Fleet {
  readonly processes: number
  /** CPU cores that all processes together use on average. */
  readonly cores: number
  /** Maximum memory of each process, in MB. */
  readonly mb: number
}

const secondsADay = 86_400

/** Computes the processes, partitions and brokers for a load, including an outage. */
export function planFor(load: Load, coefficients: Coefficients, choices: Assumptions = defaultAssumptions): Plan {
  const { utilisation, replicas } = choices
  const deliveriesPerSecond = load.eventsPerSecond * load.destinations
  const calls = (deliveriesPerSecond * load.answerMs) / 1_000
  const perSecond = deliveriesPerSecond * load.outage.share
  const course = simulateOutage({ perSecond, hours: load.outage.hours, windowHours: choices.windowHours })
  const outageCores = (course.maxRetryRecordsPerSecond * coefficients.retryWriteMicros) / 1e6
  const cores = (deliveriesPerSecond * deliveryMicros(coefficients, load)) / 1e6
  const dispatchers = dispatchersFor({ cores, outageCores, calls, hosts: load.hosts }, coefficients, choices)
  const collecting = (load.eventsPerSecond * coefficients.collect) / 1e6
  const inMb = (load.eventsPerSecond * coefficients.eventBytes * replicas) / 1e6
  const outageInMb = (course.maxRetryRecordsPerSecond * coefficients.retryRecordBytes * replicas) / 1e6
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
      diskTb: (course.parked * coefficients.retryRecordBytes * replicas) / 1e12,
    },
  }
}

/**
 * Rounds a number of processes up to at least two, so that one can take over when another fails.
 */
const atLeastTwo = (processes: number): number => Math.max(2, Math.ceil(processes))

/**
 * Plans the number of dispatchers and their `delivery.maxInFlight`. Only half of this setting
 * counts: a dispatcher keeps the rest free for destinations with few requests.
 */
function dispatchersFor(
  { cores, outageCores, calls, hosts }: Record<'cores' | 'outageCores' | 'calls' | 'hosts', number>,
  coefficients: Coefficients,
  { utilisation, inFlight }: Assumptions,
): Plan['dispatchers'] {
  const byCpu = atLeastTwo((cores + outageCores) / utilisation)
  const chosen = inFlight.find(each => byCpu * each * 0.5 >= calls) ?? inFlight.at(-1) ?? Number.NaN
  const processes = Math.max(byCpu, Math.ceil(calls / (chosen * 0.5)))
  const { memory } = coefficients
  const mb = memory.base + memory.eachCall * chosen + memoryForHosts(coefficients, hosts)
  return { processes, cores, mb, inFlight: chosen, limitMb: Math.max(mb, memoryToKeepOpen(hosts) / 1e6) }
}

function audiencesFor(
  members: number,
  { memberBytes, restore }: Coefficients,
  choices: Assumptions,
): Plan['audiences'] {
  if (members === 0) return { processes: 0, mb: 0, restoreSeconds: 0 }
  const megabytes = (members * memberBytes) / 1e6
  const processes = atLeastTwo(megabytes / choices.audiencesMb)
  return { processes, mb: megabytes / processes, restoreSeconds: (members * restore) / 1e6 / processes }
}

/**
 * Returns the number of partitions: at least two for each dispatcher, for an even assignment and
 * growth. A multiple of twelve divides evenly among 2, 3, 4, 6 or 12 processes.
 */
const partitionsFor = (processes: number): number => Math.ceil((processes * 2) / 12) * 12
