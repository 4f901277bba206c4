import type { Script } from './receiver.ts'
import type { Fault } from './scenario.ts'

/* Parts that scenarios share. */

/** The same fault `count` times. */
export const times = (count: number, fault: Fault): Fault[] => Array.from({ length: count }, () => fault)

/** The default of `delivery.perWebhook`, per process. */
export const perWebhook = 64

export const crm = { id: 'crm' }
/**
 * A destination so slow that the permits of one process allow 320 requests per second, less than
 * the load. It gets a backlog when one process must deliver everything, or in a burst after a
 * pause.
 */
export const slow = { id: 'slow', latencyMs: 200 }
/** Slower than `crm`, but the permits of one process allow 640 requests per second. */
export const lessSlow = { id: 'slow', latencyMs: 100 }
/**
 * Each 50th message fails at first. That is too rare to open a circuit breaker, but often enough
 * that there are always records in the retry topics.
 */
const fiftiethFailsOnce: Script = (id, call) => (call === 1 && Number(id.slice(2)) % 50 === 7 ? 503 : 200)
export const withRetries = [crm, { id: 'moody', latencyMs: 150, script: fiftiethFailsOnce }] as const

/** All endpoints are on one host, so its limit must not apply before the limits per webhook. */
export const oneHost = { perHost: 1_000 } as const

export const standardSetup = {
  brokers: 1,
  processes: 3,
  destinations: [crm, slow],
  delivery: { schedule: ['2s', '5s', '10s'], ...oneHost },
  load: { perSecond: 500, seconds: 20 },
} as const
/**
 * Limits after the loss of a member: its session lasts 6 s, and others own its partitions soon
 * after.
 */
export const takeoverLimits = { recoveryMs: 10_000, pauseMs: 1_000, latestMs: 40_000 } as const

export const replicatedSetup = {
  ...standardSetup,
  brokers: 3,
  destinations: withRetries,
  load: { perSecond: 200, seconds: 20 },
} as const

export const proxiedSetup = {
  ...standardSetup,
  behindProxy: true,
  processes: 2,
  destinations: withRetries,
  load: { perSecond: 200, seconds: 10 },
  limits: { duplicates: 150, recoveryMs: 30_000, latestMs: 40_000 },
} as const

/**
 * Maximum resident memory of a collector: the budgets of 32 MiB for bodies and 48 MiB for records,
 * the process itself, and garbage.
 */
const collectorPeakMb = 512
/** Load over HTTP. Only messages with a 200 must be delivered. */
export const httpSetup = {
  ...standardSetup,
  processes: 1,
  // The one process must be able to deliver the whole load.
  destinations: [crm, lessSlow],
  load: { perSecond: 400, seconds: 20 },
} as const
export const steady = { refusals: 'none', answerMs: 2_000, acceptedMs: 1_000, peakMb: collectorPeakMb } as const
/** Limits for an outage of Kafka. Requests in progress get a response after ten seconds at most. */
export const kafkaOutageLimits = {
  refusals: 'in_outages',
  broken: 'none',
  answerMs: 12_000,
  acceptedMs: 15_000,
  readiness: { unreadyMs: 27_000, readyMs: 15_000 },
  peakMb: collectorPeakMb,
} as const
