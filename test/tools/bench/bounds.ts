/** Limit of a measured value. */
export type Bound = { readonly atLeast: number } | { readonly atMost: number }

export interface Bar {
  /** Limit that fails the run. Absent: the value is only reported. */
  readonly must?: Bound
  /** Limit to reach in the future. */
  readonly aim?: Bound
}

/** One measured value with its limits. */
export interface Finding extends Bar {
  /** The measured program and the case, for example `hookline got, 20 ms`. */
  readonly subject: string
  readonly what: string
  readonly measured: number
  /** Absent for a ratio or a count. */
  readonly unit?: string
  readonly reference?: Reference
}

/** Another figure of the same run, for comparison. */
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

/** The limits of all rows. */
export const bounds = {
  lost: { must: none },
  /** For rows in which no process is killed. */
  duplicates: { must: none },
  /**
   * Deliveries per CPU second, relative to the reference loop with the same client in the same run
   * (decision 41).
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
  /** Milliseconds from append to response, of which the endpoint takes 20. */
  liveP99: { must: { atMost: 38 }, aim: { atMost: 32 } },
  healthyInTime: { must: { atLeast: 0.999 } },
  /** p99 latency of the other endpoints while one of ten does not respond, in milliseconds. */
  isolatedP99: { must: { atMost: 60 } },
  /** p99 latency of the other endpoints, relative to the same load without dead endpoints. */
  isolatedP99Ratio: { aim: { atMost: 1.1 } },
  /** Seconds from the start of a process to its first delivery. */
  firstDelivery: { must: { atMost: 1.5 } },
  /** Duplicates after a SIGKILL, in seconds of traffic. */
  repeated: { must: { atMost: 1 }, aim: { atMost: 0.2 } },
  /** Seconds from a SIGKILL to the next delivery. */
  nextDelivery: { must: { atMost: 10 }, aim: { atMost: 6 } },
  /**
   * CPU per delivery with more destinations, waiting events or partitions, relative to the
   * smallest number of these.
   */
  growth: { must: { atMost: 1.1 } },
  /** Seconds from the start of a process to its readiness, with 10,000 destinations. */
  readyWithDestinations: { must: { atMost: 5 } },
  /** p99 of the seconds from the response to a change until every process applies it. */
  changeInForce: { must: { atMost: 1 } },
  /** p99 latency while the configuration changes, relative to the same load without changes. */
  besideChanges: { must: { atMost: 1.1 } },
  /** Distance of the mean from `ratePerSecond: 50`, in deliveries per second. */
  rateDeviation: { must: { atMost: 2 } },
  /** Deliveries of a destination with `ratePerSecond: 50` in its busiest second. */
  rateInOneSecond: { must: { atMost: 60 } },
  /** Distance of the mean from the limit of an endpoint with 429, as a share of the limit. */
  limitDeviation: { must: { atMost: 0.1 } },
  /** Seconds until the rate follows the raised limit of an endpoint with 429. */
  raisedLimit: { must: { atMost: 60 } },
  /** Dead letters and open circuit breakers because of 429. */
  harmOf429: { must: none },
  /** Deliveries of two processes on two cores, relative to one process. */
  twoProcesses: { must: { atLeast: 1.9 } },
  /**
   * Share of the busier of two processes in their CPU time. It shows whether they shared the work.
   */
  busierOfTwo: { must: { atMost: 0.65 } },
  /**
   * CPU to schedule a retry and read it again, relative to a delivery of the reference loop with
   * responses after 20 ms.
   */
  parkAndRelease: { must: { atMost: 2 } },
  /**
   * Successes of a recovered endpoint in its busiest second, relative to the number that its
   * permits allow. It may be above 1, because requests that began before the second can end in it.
   */
  stampede: { must: { atMost: 1.05 } },
  /**
   * p99 latency of the other endpoint while the recovered one gets its backlog, relative to the p99
   * before the outage.
   */
  besideDraining: { must: { atMost: 1.1 } },
  /** Share of a core that a process without work uses. */
  idle: { must: { atMost: 0.02 } },
  /**
   * Messages per CPU second of the collector, relative to a handler that parses the same bodies and
   * writes each message unchanged, with acks=all.
   */
  ofBareFastify: { must: { atLeast: 0.6 } },
  /**
   * Members per CPU second that a starting process restores. At 200,000, two million members take
   * ten seconds of CPU time.
   */
  restoredPerCpuSecond: { must: { atLeast: 200_000 } },
  /**
   * Bytes of memory per member, including the user id of 36 bytes. With 150 bytes, two million
   * members fit into 512 MB.
   */
  bytesPerMember: { must: { atMost: 150 }, aim: { atMost: 120 } },
  /**
   * CPU per message, from the call until the message is sent: that of Segment's library divided by
   * that of Hookline's. At 2,000 messages per second both libraries send small requests.
   */
  cheaperThanSegment: {
    'full speed': { must: { atLeast: 3 } },
    '2,000 a second': { must: { atLeast: 2 }, aim: { atLeast: 3 } },
  } as Readonly<Record<string, Bar>>,
  /**
   * Peak memory in MB of a process that makes calls but cannot send, with the default queue of
   * 50,000 messages. V8 needs two to three times the size of these messages.
   */
  outageMemory: { must: { atMost: 400 }, aim: { atMost: 250 } },
} as const satisfies Record<string, Bar | Readonly<Record<string, Bar>>>
