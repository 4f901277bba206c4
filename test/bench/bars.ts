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
  // No number at all keeps to nothing.
  if (must !== undefined && !keepsTo(measured, must)) return 'FAILS'
  if (aim !== undefined && keepsTo(measured, aim)) return 'aim reached'
  if (must !== undefined) return 'holds'
  return aim === undefined ? '' : 'short of the aim'
}

const keepsTo = (measured: number, bound: Bound): boolean =>
  'atLeast' in bound ? measured >= bound.atLeast : measured <= bound.atMost

const none: Bound = { atMost: 0 }

/** The bars of all rows, in one place. */
export const bars = {
  lost: { must: none },
  /** Where nobody dies. */
  duplicates: { must: none },
  /** Against the bare loop with the same client, in the same run. */
  ofBareLoop: {
    got: { must: { atLeast: 0.9 } },
    undici: { must: { atLeast: 0.75 } },
  } as Readonly<Record<string, Bar>>,
  ofRedpanda: { must: { atLeast: 2 } },
  ofRedpandaTuned: { aim: { atLeast: 1.1 } },
  /** MB, by calls in flight. */
  peakMemory: {
    512: { must: { atMost: 300 }, aim: { atMost: 200 } },
    4096: { must: { atMost: 450 }, aim: { atMost: 300 } },
  } as Readonly<Record<number, Bar>>,
  /** Resident memory of the last quarter of a long run against its second quarter. */
  memoryGrowth: { must: { atMost: 1.1 }, aim: { atMost: 1.02 } },
  /** Milliseconds, on the machine that `recorded` comes from. */
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
  /** Microseconds of CPU, on the machine that `recorded` comes from. */
  parkAndRelease: { must: { atMost: 60 } },
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
  /** CPU for a message from the call until it is sent: theirs over ours. */
  cheaperThanSegment: { must: { atLeast: 3 } },
  /** MB of a process that does nothing but call, with the default queue: 50,000 messages, of which V8 makes its two or three times. */
  outageMemory: { must: { atMost: 400 }, aim: { atMost: 250 } },
} as const satisfies Record<string, Bar | Readonly<Record<string, Bar>>>

/**
 * Deliveries a CPU second of the bare loop with undici, by milliseconds to the answer, on the machine that the bars were set on. By way of the
 * bare loop, which every run measures, they say what a bar in milliseconds or microseconds is here.
 */
export const recordedBare: Readonly<Record<number, number>> = { 0: 30_900, 20: 26_100, 200: 15_000 }

/** Of the bare loop with undici: 1,000 events a second, answers after 20 ms. */
const recordedLiveP99 = 59

/** A bar in milliseconds of latency as a share of the bare loop's in the same run. */
export const ofBareP99 = (bar: Bar): Bar => scaledBy(bar, 1 / recordedLiveP99)

/** A bar in microseconds of CPU as a multiple of what the bare loop takes for a delivery, answers after 20 ms, in the same run. */
export const ofBareDelivery = (bar: Bar): Bar => scaledBy(bar, (recordedBare[20] ?? Number.NaN) / 1e6)

const scaledBy = ({ must, aim }: Bar, factor: number): Bar => ({
  ...(must !== undefined && { must: boundBy(must, factor) }),
  ...(aim !== undefined && { aim: boundBy(aim, factor) }),
})

const boundBy = (bound: Bound, factor: number): Bound =>
  'atLeast' in bound ? { atLeast: bound.atLeast * factor } : { atMost: bound.atMost * factor }
