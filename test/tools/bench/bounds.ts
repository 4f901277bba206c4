import type { FigureName, PeerFigureName } from './figure-names.ts'

/** A lower or an upper limit of a measured value. */
export type Bound = { readonly atLeast: number } | { readonly atMost: number }

/** The limits of a measured value. */
export interface Bar {
  /** The run fails if the value misses this limit. If absent, the value is only reported. */
  readonly must?: Bound
  /** Goal for a future version. Missing it does not fail the run. */
  readonly aim?: Bound
  /**
   * Name of these limits in `bounds`, for example `liveP99` or `peakMemory.512`. Absent if `bounds`
   * does not have them, because they depend on the run.
   */
  readonly judgedBy?: string
}

/** One measured value with its limits. */
export interface Finding extends Bar {
  /** The measured program and the case, for example `hookline got, responses after 20 ms`. */
  readonly subject: string
  readonly what: FigureName | PeerFigureName
  readonly measured: number
  /** Absent for a ratio or a count. */
  readonly unit?: string
  readonly reference?: Reference
}

/** Another figure of the same run, with which the value is compared. */
export interface Reference {
  readonly name: string
  readonly measured: number
  readonly unit: string
}

export type Verdict = 'aim reached' | 'holds' | 'FAILS' | 'short of the aim' | ''

export function verdictOf({ measured, must, aim }: Finding): Verdict {
  // A ratio with a division by zero (NaN or infinity) meets no limit.
  if (must !== undefined && !keepsTo(measured, must)) return 'FAILS'
  if (aim !== undefined && keepsTo(measured, aim)) return 'aim reached'
  if (must !== undefined) return 'holds'
  return aim === undefined ? '' : 'short of the aim'
}

const keepsTo = (measured: number, bound: Bound): boolean =>
  Number.isFinite(measured) && ('atLeast' in bound ? measured >= bound.atLeast : measured <= bound.atMost)

const none: Bound = { atMost: 0 }

/** The limits of all rows. A row is one experiment of the bench, such as `delivery`. */
const limits = {
  lost: { must: none },
  /** Limit of duplicates for experiments in which no process is killed. */
  duplicates: { must: none },
  /**
   * Deliveries per CPU second, relative to the reference loop with the same HTTP client in the same
   * run (decision 41). The reference loop is a minimal program that forwards records with kafkajs.
   */
  ofReferenceLoop: {
    got: { must: { atLeast: 0.9 } },
    undici: { must: { atLeast: 0.55 }, aim: { atLeast: 0.75 } },
  } as Readonly<Record<string, Bar>>,
  ofBenthos: { must: { atLeast: 1 } },
  ofBenthosTuned: { aim: { atLeast: 1.1 } },
  /** Peak resident memory in MB, by the maximum number of requests in progress. */
  peakMemory: {
    512: { must: { atMost: 300 }, aim: { atMost: 200 } },
    4096: { must: { atMost: 450 }, aim: { atMost: 300 } },
  } as Readonly<Record<number, Bar>>,
  /** Resident memory of the last quarter of a long run, relative to its second quarter. */
  memoryGrowth: { must: { atMost: 1.1 }, aim: { atMost: 1.02 } },
  /**
   * p99 of the time from append to response, in milliseconds. This includes the 20 ms that the
   * endpoint takes to respond.
   */
  liveP99: { must: { atMost: 38 }, aim: { atMost: 32 } },
  healthyInTime: { must: { atLeast: 0.999 } },
  /**
   * p99 latency of nine of ten endpoints in milliseconds. The tenth endpoint does not respond, or
   * the rate of its destination is limited.
   */
  isolatedP99: { must: { atMost: 60 } },
  /**
   * p99 latency of healthy endpoints, relative to the same load without a problem. The problem is
   * that some endpoints do not respond, or that the rate of one destination is limited.
   */
  isolatedP99Ratio: { aim: { atMost: 1.1 } },
  /** Seconds from the start of a process to its first delivery. */
  firstDelivery: { must: { atMost: 1.5 } },
  /**
   * Duplicates after a SIGKILL, in seconds of traffic: their number divided by the events per
   * second.
   */
  repeated: { must: { atMost: 1 }, aim: { atMost: 0.2 } },
  /**
   * Seconds from a SIGKILL to the first delivery of the new process, which starts immediately after
   * the kill.
   */
  nextDelivery: { must: { atMost: 10 }, aim: { atMost: 6 } },
  /**
   * CPU time per delivery with many destinations, waiting events or partitions. It is relative to
   * the CPU time with the smallest number that the experiment measures.
   */
  growth: { must: { atMost: 1.1 } },
  /** Seconds from the start of a process to its readiness, with 10,000 destinations. */
  readyWithDestinations: { must: { atMost: 5 } },
  /**
   * p99, in seconds, of the time until every process applies a change. The time begins when the
   * operator API has acknowledged the change.
   */
  changeInForce: { must: { atMost: 1 } },
  /** p99 latency while the configuration changes, relative to the same load without changes. */
  besideChanges: { must: { atMost: 1.1 } },
  /**
   * p95 of the response time of the operator API in ms, with 10,000 destinations and a million dead
   * letters. Responses that are marked partial do not count.
   */
  operatorAnswer: { must: { atMost: 2_000 } },
  /**
   * Number of responses of the operator API that took more than 2 s. Those marked partial do not
   * count.
   */
  lateAnswers: { must: none },
  /**
   * p95 in ms of the time to load a page of the console, with 10,000 destinations and a million
   * dead letters.
   */
  consolePage: { must: { atMost: 1_000 } },
  /**
   * p99 latency of live events during a resend of other events, relative to the same load without a
   * resend.
   */
  besideResend: { must: { atMost: 1.1 } },
  /** Difference between the mean rate and `ratePerSecond: 50`, in deliveries per second. */
  rateDeviation: { must: { atMost: 2 } },
  /** Deliveries of a destination with `ratePerSecond: 50` in its busiest second. */
  rateInOneSecond: { must: { atMost: 60 } },
  /**
   * Difference between the mean rate and the limit of an endpoint that responds with 429, divided
   * by this limit.
   */
  limitDeviation: { must: { atMost: 0.1 } },
  /**
   * Seconds from the time at which an endpoint that responds with 429 raises its limit until the
   * delivery rate reaches the new limit.
   */
  raisedLimit: { must: { atMost: 60 } },
  /** Number of dead letters, or of opened circuit breakers, because of 429 responses. */
  harmOf429: { must: none },
  /** Deliveries per second of two processes with a core each, relative to one process. */
  twoProcesses: { must: { atLeast: 1.9 } },
  /**
   * Part of the CPU time of two processes that the busier process uses. It is about 0.5 if the two
   * share the work equally.
   */
  busierOfTwo: { must: { atMost: 0.65 } },
  /**
   * CPU time to write a failed delivery to a retry topic and read it again, relative to a delivery
   * of the reference loop. The endpoint of the reference loop responds after 20 ms.
   */
  retryCost: { must: { atMost: 2 } },
  /**
   * Successes of a recovered endpoint in its busiest second, relative to the maximum that the limit
   * of concurrent requests (`perWebhook`) allows. The ratio may be above 1, because requests that
   * began before the second can end in it.
   */
  stampede: { must: { atMost: 1.05 } },
  /**
   * p99 latency of a healthy endpoint while another endpoint, which has recovered from an outage,
   * gets its backlog. It is relative to the p99 before the outage.
   */
  besideDraining: { must: { atMost: 1.1 } },
  /** Share of a CPU core that a process uses while it has no events to deliver. */
  idle: { must: { atMost: 0.02 } },
  /**
   * Messages per CPU second of the collector, relative to a minimal HTTP handler. The handler
   * parses the same bodies and writes each message unchanged to Kafka, with acks=all.
   */
  ofBareHandler: { must: { atLeast: 0.6 } },
  /**
   * Members of audiences that a starting process restores from Kafka, per second of its CPU time.
   * At 200,000, two million members take ten seconds of CPU time.
   */
  restoredPerCpuSecond: { must: { atLeast: 200_000 } },
  /**
   * Bytes of memory per member of an audience, including the user id of 36 bytes. With 150 bytes,
   * two million members fit into 512 MB.
   */
  bytesPerMember: { must: { atMost: 150 }, aim: { atMost: 120 } },
  /**
   * CPU time per message of Segment's library, divided by that of Hookline's client. Both are
   * measured from the call until the message is sent. At 2,000 messages per second, both libraries
   * send requests with few messages. The cost of the requests is then a larger part of both times,
   * so the limit of the ratio is lower.
   */
  cheaperThanSegment: {
    'full speed': { must: { atLeast: 3 } },
    '2,000 calls a second': { must: { atLeast: 2 }, aim: { atLeast: 3 } },
  },
  /**
   * Peak memory in MB of a process that calls the client while no collector is reachable. The
   * client has its default queue of 50,000 messages. V8 needs two to three times the size of these
   * messages.
   */
  outageMemory: { must: { atMost: 400 }, aim: { atMost: 250 } },
} as const satisfies Record<string, Bar | Readonly<Record<string, Bar>>>

type Limits = Bar | Readonly<Record<string, Bar>>

const isBar = (limits: Limits): limits is Bar => 'must' in limits || 'aim' in limits

function named(name: string, limits: Limits): Limits {
  if (isBar(limits)) return { ...limits, judgedBy: name }
  return Object.fromEntries(Object.entries(limits).map(([of, bar]) => [of, { ...bar, judgedBy: `${name}.${of}` }]))
}

/** The limits of all rows, with their names. */
export const bounds = Object.fromEntries(
  Object.entries<Limits>(limits).map(([name, each]) => [name, named(name, each)]),
) as typeof limits

/** Returns the current limits with this name. Undefined if no limits have it. */
export const limitsNamed = (name: string): Bar | undefined =>
  Object.values<Limits>(bounds)
    .flatMap(each => (isBar(each) ? [each] : Object.values(each)))
    .find(({ judgedBy }) => judgedBy === name)
