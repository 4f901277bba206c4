import type { FigureName, PeerFigureName } from './figure-names.ts'

export type Bound = { readonly atLeast: number } | { readonly atMost: number }

export interface Bar {
  /** The run fails if the value misses this limit. If absent, the value is only reported. */
  readonly must?: Bound
  /** Goal for a future version. It does not fail the run. */
  readonly aim?: Bound
  /**
   * Name of these limits in `bounds`, for example `liveP99` or `peakMemory.512`. Absent if they
   * depend on the run.
   */
  readonly judgedBy?: string
}

export interface Finding extends Bar {
  /** The measured program and the case, for example `hookline got, responses after 20 ms`. */
  readonly subject: string
  readonly what: FigureName | PeerFigureName
  readonly measured: number
  /** Absent for a ratio or a count. */
  readonly unit?: string
  readonly reference?: Reference
}

export interface Reference {
  readonly name: string
  readonly measured: number
  readonly unit: string
}

export type Verdict = 'aim reached' | 'holds' | 'FAILS' | 'short of the aim' | ''

export function verdictOf({ measured, must, aim }: Finding): Verdict {
  // NaN and infinity (divisions by zero) meet no limit.
  if (must !== undefined && !keepsTo(measured, must)) return 'FAILS'
  if (aim !== undefined && keepsTo(measured, aim)) return 'aim reached'
  if (must !== undefined) return 'holds'
  return aim === undefined ? '' : 'short of the aim'
}

const keepsTo = (measured: number, bound: Bound): boolean =>
  Number.isFinite(measured) && ('atLeast' in bound ? measured >= bound.atLeast : measured <= bound.atMost)

const none: Bound = { atMost: 0 }

/** The limits of all rows. A row is one experiment of the bench, for example `delivery`. */
const limits = {
  lost: { must: none },
  /** For experiments in which no process is killed. */
  duplicates: { must: none },
  /**
   * Deliveries per CPU second, relative to the reference loop with the same HTTP client in the same
   * run (decision 41).
   */
  ofReferenceLoop: {
    got: { must: { atLeast: 0.9 } },
    undici: { must: { atLeast: 0.55 }, aim: { atLeast: 0.75 } },
  } as Readonly<Record<string, Bar>>,
  ofBenthos: { must: { atLeast: 1 } },
  ofBenthosTuned: { aim: { atLeast: 1.1 } },
  /** Deliveries per CPU second over HTTPS, relative to another program of the same run. */
  overHttps: {
    tunedOneHost: { must: { atLeast: 1.1 }, aim: { atLeast: 1.4 } },
    tunedManyHosts: { must: { atLeast: 1 }, aim: { atLeast: 1.2 } },
    tunedClosing: { must: { atLeast: 0.9 } },
    goLoop: { aim: { atLeast: 0.85 } },
    gotLoop: { must: { atLeast: 0.9 } },
    /** p99 latency over HTTPS, relative to plain HTTP. */
    p99Ratio: { must: { atMost: 1.2 } },
    /** In ms. */
    gotP99: { must: { atMost: 60 } },
  },
  /** Deliveries per CPU second with many hosts, relative to the same figure with fewer hosts. */
  manyHosts: {
    undici: { must: { atLeast: 0.85 } },
    got: { must: { atLeast: 0.75 } },
  },
  /** New connections in the steady state, divided by the deliveries. */
  newConnections: { must: { atMost: 0.005 } },
  /** Peak resident memory in MB, by the maximum number of requests in progress. */
  peakMemory: {
    512: { must: { atMost: 300 }, aim: { atMost: 200 } },
    4096: { must: { atMost: 450 }, aim: { atMost: 300 } },
  } as Readonly<Record<number, Bar>>,
  /** Resident memory in the last quarter of a long run, relative to the second quarter. */
  memoryGrowth: { must: { atMost: 1.1 }, aim: { atMost: 1.02 } },
  /** p99 from append to response, in ms, including the endpoint's 20 ms. */
  liveP99: { must: { atMost: 38 }, aim: { atMost: 32 } },
  healthyInTime: { must: { atLeast: 0.999 } },
  /**
   * p99 latency in ms of nine of ten endpoints. The tenth does not respond, or has a rate limit.
   */
  isolatedP99: { must: { atMost: 60 } },
  /**
   * p99 latency of healthy endpoints while others do not respond or are rate-limited, relative to a
   * load without these problems.
   */
  isolatedP99Ratio: { aim: { atMost: 1.1 } },
  /** Seconds from the start of a process to its first delivery. */
  firstDelivery: { must: { atMost: 1.5 } },
  /** Duplicates after a SIGKILL, in seconds of traffic. */
  repeated: { must: { atMost: 1 }, aim: { atMost: 0.2 } },
  /** Seconds from a SIGKILL to the first delivery of the new process, which starts immediately. */
  nextDelivery: { must: { atMost: 10 }, aim: { atMost: 6 } },
  /**
   * CPU time per delivery with many destinations, waiting events or partitions, relative to few.
   */
  growth: { must: { atMost: 1.1 } },
  /** Seconds from start to readiness, with 10,000 destinations. */
  readyWithDestinations: { must: { atMost: 5 } },
  /**
   * p99, in seconds, from the acknowledgement of a change by the operator API until every process
   * applies it.
   */
  changeInForce: { must: { atMost: 1 } },
  /** p99 latency while the configuration changes, relative to the same load without changes. */
  besideChanges: { must: { atMost: 1.1 } },
  /**
   * p95 in ms of the operator API's responses with 10,000 destinations and a million dead letters,
   * without responses marked partial.
   */
  operatorAnswer: { must: { atMost: 2_000 } },
  /** Responses of the operator API that took more than 2 s, without those marked partial. */
  lateAnswers: { must: none },
  /**
   * p95 in ms to load a page of the console, with 10,000 destinations and a million dead letters.
   */
  consolePage: { must: { atMost: 1_000 } },
  /** p99 latency of live events during a resend, relative to the same load without a resend. */
  besideResend: { must: { atMost: 1.1 } },
  /** Difference of the mean rate from `ratePerSecond: 50`, in deliveries per second. */
  rateDeviation: { must: { atMost: 2 } },
  /** Deliveries in the busiest second with `ratePerSecond: 50`. */
  rateInOneSecond: { must: { atMost: 60 } },
  /** Relative difference of the mean rate from the limit of an endpoint that responds with 429. */
  limitDeviation: { must: { atMost: 0.1 } },
  /**
   * Seconds from the increase of an endpoint's limit until the delivery rate reaches the new limit.
   */
  raisedLimit: { must: { atMost: 60 } },
  /** Dead letters, or opened circuit breakers, because of 429 responses. */
  harmOf429: { must: none },
  /** Deliveries per second of two processes with a core each, relative to one process. */
  twoProcesses: { must: { atLeast: 1.9 } },
  /** Share of the busier process in the CPU time of two processes. 0.5 is an equal share. */
  busierOfTwo: { must: { atMost: 0.65 } },
  /**
   * CPU time to write and read a record of a retry topic, relative to a delivery of the reference
   * loop.
   */
  retryCost: { must: { atMost: 2 } },
  /**
   * Successes of a recovered endpoint in its busiest second, relative to what `perWebhook` allows.
   * The limit is above 1, because some requests began before this second.
   */
  stampede: { must: { atMost: 1.05 } },
  /**
   * p99 latency of a healthy endpoint while a recovered one gets its backlog, relative to the p99
   * before the outage.
   */
  besideDraining: { must: { atMost: 1.1 } },
  /** Share of a CPU core that a process without events uses. */
  idle: { must: { atMost: 0.02 } },
  /**
   * The collector's messages per CPU second, relative to an HTTP handler that only parses bodies
   * and writes messages to Kafka.
   */
  ofBareHandler: { must: { atLeast: 0.6 } },
  /** Members of audiences that a starting process restores per second of its CPU time. */
  restoredPerCpuSecond: { must: { atLeast: 200_000 } },
  /** Bytes of memory per member of an audience, including 36 bytes of user id. */
  bytesPerMember: { must: { atMost: 150 }, aim: { atMost: 120 } },
  /**
   * CPU time per message of Segment's library, divided by that of Hookline's client. The limit for
   * 2,000 calls per second is lower, because the cost of requests dominates.
   */
  cheaperThanSegment: {
    'full speed': { must: { atLeast: 3 } },
    '2,000 calls a second': { must: { atLeast: 2 }, aim: { atLeast: 3 } },
  },
  /**
   * Peak memory in MB of a process that calls the client while no collector is reachable. The full
   * queue has 50,000 messages.
   */
  outageMemory: { must: { atMost: 400 }, aim: { atMost: 250 } },
} as const satisfies Record<string, Bar | Readonly<Record<string, Bar>>>

type Limits = Bar | Readonly<Record<string, Bar>>

const isBar = (limits: Limits): limits is Bar => 'must' in limits || 'aim' in limits

function named(name: string, limits: Limits): Limits {
  if (isBar(limits)) return { ...limits, judgedBy: name }
  return Object.fromEntries(Object.entries(limits).map(([of, bar]) => [of, { ...bar, judgedBy: `${name}.${of}` }]))
}

export const bounds = Object.fromEntries(
  Object.entries<Limits>(limits).map(([name, each]) => [name, named(name, each)]),
) as typeof limits

export const limitsNamed = (name: string): Bar | undefined =>
  Object.values<Limits>(bounds)
    .flatMap(each => (isBar(each) ? [each] : Object.values(each)))
    .find(({ judgedBy }) => judgedBy === name)
