/** What a measured value has to keep to. */
export type Bound = { readonly atLeast: number } | { readonly atMost: number }

export interface Bar {
  /** Without it the build of a release fails. Absent: only told. */
  readonly must?: Bound
  /** Where it is to get to. */
  readonly aim?: Bound
}

/** One measured value, next to its bar. */
export interface Finding extends Bar {
  /** Who was measured, and where: `hookline got, 20 ms`. */
  readonly subject: string
  readonly what: string
  readonly measured: number
  /** Absent: a ratio or a count. */
  readonly unit?: string
  readonly reference?: Reference
}

/** What a figure was measured beside, in the same run. */
export interface Reference {
  readonly name: string
  readonly measured: number
  readonly unit: string
}

export type Verdict = 'aim reached' | 'holds' | 'FAILS' | 'short of the aim' | ''

export function verdictOf({ measured, must, aim }: Finding): Verdict {
  // A comparison with nothing (NaN, or a division by zero) meets no bound.
  if (must !== undefined && !keepsTo(measured, must)) return 'FAILS'
  if (aim !== undefined && keepsTo(measured, aim)) return 'aim reached'
  if (must !== undefined) return 'holds'
  return aim === undefined ? '' : 'short of the aim'
}

const keepsTo = (measured: number, bound: Bound): boolean =>
  Number.isFinite(measured) && ('atLeast' in bound ? measured >= bound.atLeast : measured <= bound.atMost)

const none: Bound = { atMost: 0 }

/** The bars of all rows, in one place. */
export const bars = {
  lost: { must: none },
  /** Where nobody dies. */
  duplicates: { must: none },
  /** Against the reference loop with the same client, in the same run (decision 41). */
  ofBareLoop: {
    got: { must: { atLeast: 0.9 } },
    undici: { must: { atLeast: 0.55 }, aim: { atLeast: 0.75 } },
  } as Readonly<Record<string, Bar>>,
  ofBenthos: { must: { atLeast: 1 } },
  ofBenthosTuned: { aim: { atLeast: 1.1 } },
  /** MB, by calls in flight. */
  peakMemory: {
    512: { must: { atMost: 300 }, aim: { atMost: 200 } },
    4096: { must: { atMost: 450 }, aim: { atMost: 300 } },
  } as Readonly<Record<number, Bar>>,
  /** Resident memory of the last quarter of a long run against its second quarter. */
  memoryGrowth: { must: { atMost: 1.1 }, aim: { atMost: 1.02 } },
  /** Milliseconds from append to answer, of which the endpoint takes 20. */
  liveP99: { must: { atMost: 38 }, aim: { atMost: 32 } },
  healthyInTime: { must: { atLeast: 0.999 } },
  /** Milliseconds. */
  isolatedP99: { must: { atMost: 60 } },
  /** Against the same load without the dead destination. */
  isolatedP99Ratio: { aim: { atMost: 1.1 } },
  /** Seconds. */
  firstDelivery: { must: { atMost: 1.5 } },
  /** Duplicates after a SIGKILL, in seconds of traffic. */
  repeated: { must: { atMost: 1 }, aim: { atMost: 0.2 } },
  /** Seconds from a SIGKILL to the next delivery. */
  nextDelivery: { must: { atMost: 10 }, aim: { atMost: 6 } },
  /** CPU a delivery with more destinations, backlog or partitions, to that with the fewest. */
  growth: { must: { atMost: 1.1 } },
  /** What two processes on two cores deliver, to what one does. */
  twoProcesses: { must: { atLeast: 1.9 } },
  /** Of the work of two processes: they have shared it. */
  busierOfTwo: { must: { atMost: 0.65 } },
  /** CPU to park and release a delivery, against what the reference loop takes for a delivery after 20 ms. */
  parkAndRelease: { must: { atMost: 2 } },
  /** What an endpoint gets when it answers again, to what its places let through; a second's edges cost a twentieth. */
  stampede: { must: { atMost: 1.05 } },
  /** p99 of another endpoint meanwhile, to that before. */
  besideDraining: { must: { atMost: 1.1 } },
  /** Of a core. */
  idle: { must: { atMost: 0.02 } },
  /** Messages a CPU second of the collector, against a handler that parses the same bodies and writes each message as it came, with acks=all. */
  ofBareFastify: { must: { atLeast: 0.6 } },
  /** Two million members are there again within ten seconds. */
  restoredPerCpuSecond: { must: { atLeast: 200_000 } },
  /** 36 of them are the user's id; so two million members fit into 512 MB beside all else. */
  bytesPerMember: { must: { atMost: 150 }, aim: { atMost: 120 } },
  /** CPU for a message from the call until it is sent: theirs over ours. At 2,000 a second requests are small on both sides. */
  cheaperThanSegment: {
    'full speed': { must: { atLeast: 3 } },
    '2,000 a second': { must: { atLeast: 2 }, aim: { atLeast: 3 } },
  } as Readonly<Record<string, Bar>>,
  /** MB of a process that does nothing but call, with the default queue: 50,000 messages, of which V8 makes its two or three times. */
  outageMemory: { must: { atMost: 400 }, aim: { atMost: 250 } },
} as const satisfies Record<string, Bar | Readonly<Record<string, Bar>>>
