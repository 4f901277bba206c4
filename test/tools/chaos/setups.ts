import type { Script } from './receiver.ts'
import type { Fault } from './scenario.ts'

export const times = (count: number, fault: Fault): Fault[] => Array.from({ length: count }, () => fault)

/** The default of `delivery.perWebhook`, per process. */
export const perWebhook = 64

export const crm = { id: 'crm' }
/**
 * A slow destination. One process can send it 160 requests per second, less than the load, so it
 * gets a backlog.
 */
export const slow = { id: 'slow', latencyMs: 400 }
/** Like `slow`, but one process can send 640 requests per second, more than the load. */
export const lessSlow = { id: 'slow', latencyMs: 100 }
/**
 * Each 50th message fails once. This opens no circuit breaker, but keeps records in the retry
 * topics.
 */
const fiftiethFailsOnce: Script = (id, call) => (call === 1 && Number(id.slice(2)) % 50 === 7 ? 503 : 200)
export const withRetries = [crm, { id: 'moody', latencyMs: 150, script: fiftiethFailsOnce }] as const

/**
 * All endpoints are on one host. With this high limit per host, only the limits per webhook apply.
 */
export const oneHost = { perHost: 1_000 } as const

export const standardSetup = {
  brokers: 1,
  processes: 3,
  destinations: [crm, slow],
  delivery: { schedule: ['2s', '5s', '10s'], ...oneHost },
  // Slow machines with two cores missed the time limits with 500 messages per second.
  load: { perSecond: 250, seconds: 20 },
} as const
/** Limits after a kill of a process. Its session in the consumer group ends at most 6 s later. */
export const takeoverLimits = { recoveryMs: 10_000, pauseMs: 1_500, latestMs: 40_000 } as const

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
  limits: { duplicates: 150, recoveryMs: 30_000, latestMs: 40_000, unreadyMs: 45_000 },
} as const

/** Covers the budgets for bodies (32 MiB) and records (48 MiB), the process itself, and garbage. */
const collectorPeakMb = 512
/** Set-up with load over HTTP. Only messages that got a 200 must be delivered. */
export const httpSetup = {
  ...standardSetup,
  processes: 1,
  // The single process must be able to deliver the whole load.
  destinations: [crm, lessSlow],
  load: { perSecond: 400, seconds: 20 },
} as const
export const steady = { refusals: 'none', answerMs: 2_000, acceptedMs: 1_000, peakMb: collectorPeakMb } as const
/**
 * Limits for an outage of Kafka. The collector itself ends each request in progress after ten
 * seconds (`storeDeadline`). `answerMs` adds a margin.
 */
export const kafkaOutageLimits = {
  refusals: 'in_outages',
  broken: 'none',
  answerMs: 12_000,
  acceptedMs: 15_000,
  readiness: { unreadyMs: 27_000, readyMs: 15_000 },
  peakMb: collectorPeakMb,
} as const
