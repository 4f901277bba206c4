import type { Script } from './receiver.ts'
import type { Fault } from './scenario.ts'

/* Set-ups and limits that several scenarios use. */

/** Returns the same fault `count` times. */
export const times = (count: number, fault: Fault): Fault[] => Array.from({ length: count }, () => fault)

/** The default of `delivery.perWebhook`, per process. */
export const perWebhook = 64

export const crm = { id: 'crm' }
/**
 * A slow destination. With the default limit of concurrent requests, one process can send it 160
 * requests per second, which is less than the load of `standardSetup`. It gets a backlog when one
 * process must deliver everything, or after a pause.
 */
export const slow = { id: 'slow', latencyMs: 400 }
/**
 * A destination that is slower than `crm`. With the default limit of concurrent requests, one
 * process can send it 640 requests per second, which is more than the load.
 */
export const lessSlow = { id: 'slow', latencyMs: 100 }
/**
 * Script with which each 50th message fails at its first request. That is too rare to open a
 * circuit breaker, but often enough that there are always records in the retry topics.
 */
const fiftiethFailsOnce: Script = (id, call) => (call === 1 && Number(id.slice(2)) % 50 === 7 ? 503 : 200)
export const withRetries = [crm, { id: 'moody', latencyMs: 150, script: fiftiethFailsOnce }] as const

/**
 * Setting with a very high limit per host. All endpoints are on one host. With the default limit
 * per host, requests could reach this limit before they reach the limits per webhook.
 */
export const oneHost = { perHost: 1_000 } as const

export const standardSetup = {
  brokers: 1,
  processes: 3,
  destinations: [crm, slow],
  delivery: { schedule: ['2s', '5s', '10s'], ...oneHost },
  // A slow machine with two cores can deliver this load while processes start. With 500 messages
  // per second, slow machines missed the time limits.
  load: { perSecond: 250, seconds: 20 },
} as const
/**
 * Limits for a scenario in which a process of a consumer group dies. The session of the dead
 * process ends up to 6 s later. Soon after that, other processes own its partitions.
 */
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

/**
 * Maximum resident memory of a collector in MB. It covers the budgets of 32 MiB for bodies and 48
 * MiB for records, the process itself, and garbage that V8 has not yet collected.
 */
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
 * Limits for collectors in an outage of Kafka. Requests in progress get a response after ten
 * seconds at most.
 */
export const kafkaOutageLimits = {
  refusals: 'in_outages',
  broken: 'none',
  answerMs: 12_000,
  acceptedMs: 15_000,
  readiness: { unreadyMs: 27_000, readyMs: 15_000 },
  peakMb: collectorPeakMb,
} as const
