import type { Script } from './receiver.ts'
import type { Fault } from './scenario.ts'

/* What scenarios have in common. */

/** The same fault so many times in a row. */
export const times = (count: number, fault: Fault): Fault[] => Array.from({ length: count }, () => fault)

export const crm = { id: 'crm' }
/** So slow that half of the load nearly uses up its permits: with two processes fewer, or in a burst after a pause, a backlog grows. */
export const slow = { id: 'slow', latencyMs: 200 }
/** Each 50th message fails at first: few enough that no breaker opens, enough that copies are on their way in the retry topics at any time. */
const fiftiethFailsOnce: Script = (id, call) => (call === 1 && Number(id.slice(2)) % 50 === 7 ? 503 : 200)
export const withRetries = [crm, { id: 'moody', latencyMs: 150, script: fiftiethFailsOnce }] as const

export const standard = {
  brokers: 1,
  processes: 3,
  destinations: [crm, slow],
  delivery: { schedule: ['2s', '5s', '10s'] },
  load: { perSecond: 500, seconds: 20 },
} as const
/** A session lasts 6 s; what a member has left behind belongs to others soon after. */
export const takenOver = { recoveryMs: 10_000, pauseMs: 1_000, latestMs: 40_000 } as const

export const replicated = {
  ...standard,
  brokers: 3,
  destinations: withRetries,
  load: { perSecond: 200, seconds: 20 },
} as const

export const behindProxies = {
  ...standard,
  behindProxy: true,
  processes: 2,
  destinations: withRetries,
  load: { perSecond: 200, seconds: 10 },
  limits: { duplicates: 150, recoveryMs: 30_000, latestMs: 40_000 },
} as const

/** Neither budget of a collector, of 32 MiB for bodies and 48 for records, may be passed; beside them is what the process is, and what is left over until it is collected. */
const collectorPeakMb = 512
/** What comes in over HTTP is promised to arrive only when it was answered 200. */
export const overHttp = {
  ...standard,
  processes: 1,
  load: { perSecond: 400, seconds: 20 },
} as const
export const steady = { refusals: 'none', answerMs: 2_000, acceptedMs: 1_000, peakMb: collectorPeakMb } as const
/** Requests under way when Kafka goes are answered after ten seconds at the latest. */
export const outOfKafka = {
  refusals: 'in_outages',
  broken: 'none',
  answerMs: 12_000,
  acceptedMs: 15_000,
  readiness: { unreadyMs: 27_000, readyMs: 15_000 },
  peakMb: collectorPeakMb,
} as const
