import { parseDuration } from '../../../src/core/time.ts'
import type { Injected } from './delivery-verdict.ts'
import { failEndpoint, failEndpoints, recoverEndpoints } from './endpoint-faults.ts'
import { judgePromptness, type Watched } from './latency-bound-verdict.ts'
import type { Answer } from './message-ledger.ts'
import { noFault } from './no-fault.ts'
import { minutes } from './outage-minutes.ts'
import { type CheckResult, combineResults } from './result-of-a-check.ts'
import { type AttemptLimits, judgeAttempts } from './retry-times-and-rate-verdict.ts'
import type { Scenario } from './scenario.ts'
import { crm, oneHost, perWebhook, standardSetup } from './setups.ts'
import type { World } from './world.ts'

/** Of the messages to working endpoints, 99.9 % must be delivered within a second. */
const unnoticed = { withinMs: 1_000, share: 0.999 } as const
/** Waits between attempts. Their sum is longer than any fault, so nothing is dead-lettered. */
const schedule = ['5s', '10s', '30s', '1m', '5m', '5m', '10m'] as const
const waits = schedule.map(text => parseDuration(text) as number)
const processes = 2

const ill = {
  ...standardSetup,
  processes,
  destinations: [crm, { id: 'failing' }, { id: 'partly-failing' }],
  delivery: { schedule, ...oneHost },
  load: { perSecond: 50, seconds: 10 },
} as const

/** Limits for the endpoint `partly-failing`, whose circuit breaker stays closed. */
const onSchedule: AttemptLimits = { maxDelayMs: 2_000, maxConcurrent: processes * perWebhook, minRetries: 1 }
/**
 * Limits while the circuit breaker is open. It allows one probe every 30 s, and Hookline defers
 * other deliveries by up to a minute.
 */
const putOff: AttemptLimits = { ...onSchedule, maxDelayMs: 60_000 }

/** Judges the attempts at `failing` and `partly-failing`, and whether `crm` is unaffected. */
const examined =
  (limits: Readonly<Record<'failing' | 'partly-failing', AttemptLimits>>) =>
  async ({ ledger, patience }: World, injected: readonly Injected[]): Promise<CheckResult> => {
    const { calls, deliveries } = ledger
    const watched = injected.map(({ what, at, from }) => ({
      what: `crm, while ${what.replace('endpoint ', 'the endpoint of ')}`,
      from: at,
      to: from,
      destinations: ['crm'],
    }))
    const attempts = (['failing', 'partly-failing'] as const).map(destination =>
      judgeAttempts({ destination, calls, schedule: waits, limits: limits[destination], patience }),
    )
    const well = judgePromptness({
      acknowledged: ledger.acknowledged(),
      deliveries,
      watched,
      limits: unnoticed,
      patience,
    })
    return combineResults([...attempts, well])
  }

/** A response that breaks off (`half`) counts as a success, so it causes no retry. */
const retriesAfter = (answer: Answer): Pick<AttemptLimits, 'minRetries'> => ({ minRetries: answer === 'half' ? 0 : 1 })

const spoilt = (
  name: string,
  what: string,
  kind: string,
  answer: Answer,
  partly: AttemptLimits = onSchedule,
): Scenario => ({
  ...ill,
  name: `endpoint-${name}`,
  shows: `for 15 s, one of three endpoints ${what}, and a second one does so for one message in ten; then both recover`,
  faults: [failEndpoint('failing', 'partly-failing', kind, answer, 15)],
  limits: { duplicates: 0, recoveryMs: 60_000, latestMs: 120_000, orderedShare: 0.35 },
  examine: examined({
    failing: { ...putOff, ...retriesAfter(answer) },
    'partly-failing': { ...partly, ...retriesAfter(answer) },
  }),
})

/**
 * With these values, the deliveries after the recovery reach the limit of the failing endpoint: 160
 * requests per second.
 */
const narrow = { perWebhook: 8, latencyMs: 100 } as const
const laneAllows = {
  maxConcurrent: processes * narrow.perWebhook,
  perSecond: (processes * narrow.perWebhook * 1_000) / narrow.latencyMs,
}
/**
 * Longest wait in a retry topic, in ms: five minutes, or one minute if the outage is shorter than
 * the earlier waits, which are together 105 s.
 */
const longestTierMs = minutes * 60_000 < 105_000 ? 60_000 : 300_000
const arrivedMs = minutes * 60_000 * (ill.load.perSecond / (laneAllows.perSecond - ill.load.perSecond))
const backMs = 30_000 + longestTierMs + arrivedMs
/**
 * Maximum delay of an attempt that is due when the outage begins: it waits until the outage and the
 * recovery have ended.
 */
const putOffMs = minutes * 60_000 + backMs

const outage: Scenario = {
  ...ill,
  name: 'endpoint-outage',
  shows: `for ${minutes} min, one of three endpoints answers 503, and a second one does so for one message in ten; then both recover, and Hookline delivers the backlog`,
  destinations: [crm, { id: 'failing', latencyMs: narrow.latencyMs }, { id: 'partly-failing' }],
  delivery: { schedule, ...oneHost, perWebhook: narrow.perWebhook },
  faults: [failEndpoint('failing', 'partly-failing', 'answers 503', 503, minutes * 60)],
  limits: { duplicates: 0, recoveryMs: backMs, latestMs: putOffMs, orderedShare: 0.35 },
  settleMs: 2 * backMs,
  examine: examined({
    failing: { ...putOff, maxDelayMs: putOffMs, ...laneAllows },
    'partly-failing': { ...onSchedule, maxConcurrent: laneAllows.maxConcurrent },
  }),
}

const crowd = Array.from({ length: 50 }, (_, index) => ({ id: `shop-${index + 1}` }))
const ids = crowd.map(({ id }) => id)
const stepSeconds = 12
const illCounts = [0, 1, 10, 25] as const

/**
 * A scenario of 50 endpoints in three steps: the first fails, then the first 10, then the first 25.
 */
const ofCrowd = (name: string, shows: string, answer: Answer): Scenario => ({
  ...standardSetup,
  processes,
  name,
  shows,
  destinations: crowd,
  delivery: { schedule, ...oneHost },
  load: { perSecond: 10, seconds: 10 },
  faults: [
    noFault(stepSeconds),
    ...illCounts.slice(1).map(count => failEndpoints(ids.slice(0, count), answer, stepSeconds, ids.at(-1) as string)),
    recoverEndpoints(ids.slice(0, Math.max(...illCounts))),
  ],
  // Requests time out after 5 s. These endpoints respond after 4.9 s, so on a busy machine, some
  // messages are repeated.
  limits: { duplicates: 100, recoveryMs: 90_000, latestMs: 150_000 },
  examine: async ({ ledger, patience }, injected) => {
    const watched = illCounts.flatMap((count, index): Watched[] => {
      const step = injected[index]
      const what = `the working endpoints, with ${count} of ${ids.length} failing`
      return step === undefined ? [] : [{ what, from: step.at, to: step.from, destinations: ids.slice(count) }]
    })
    const { deliveries } = ledger
    return judgePromptness({ acknowledged: ledger.acknowledged(), deliveries, watched, limits: unnoticed, patience })
  },
})

const slowIds = ['slow-1', 'slow-2'] as const

/**
 * Slow endpoints that respond just before the timeout open no circuit breaker. They must not block
 * `crm` on their host.
 */
const sharedHost: Scenario = {
  ...standardSetup,
  processes: 1,
  name: 'shared-host-slow',
  shows:
    'three destinations are at one host, with the default limits; two of them have five webhooks each, and for 30 s, these respond 200 after 4.8 s',
  destinations: [crm, ...slowIds.map(id => ({ id, webhooks: 5 }))],
  delivery: { schedule },
  load: { perSecond: 80, seconds: 10 },
  // The first deliveries of a process take more CPU time, so `noFault` precedes the judged fault.
  faults: [
    noFault(stepSeconds),
    failEndpoints(slowIds, { status: 200, afterMs: 4_800 }, 30, crm.id),
    recoverEndpoints(slowIds),
  ],
  limits: { duplicates: 100, recoveryMs: 90_000, latestMs: 150_000, orderedShare: 0.3 },
  examine: async ({ ledger, patience }, injected) => {
    const watched = injected.slice(1, 2).map(({ at, from }): Watched => {
      return { what: 'crm, while the other destinations are slow', from: at, to: from, destinations: [crm.id] }
    })
    const { deliveries } = ledger
    return judgePromptness({ acknowledged: ledger.acknowledged(), deliveries, watched, limits: unnoticed, patience })
  },
}

export const endpointScenarios: readonly Scenario[] = [
  spoilt('fails', 'answers 503', 'answers 503', 503),
  spoilt('hangs', 'accepts requests and never responds', 'hangs', 'hang'),
  spoilt('resets', 'resets every connection', 'resets connections', 'reset'),
  spoilt(
    'breaks-off',
    'answers 200 and closes the connection within the body, which counts as a success',
    'breaks off responses',
    'half',
  ),
  spoilt('trickles', 'sends a byte each half second', 'sends single bytes', 'trickle'),
  // A single 429 pauses all attempts at the destination, so all its messages wait, and `putOff`
  // applies.
  spoilt('limits', 'answers 429 with Retry-After: 8', 'answers 429', { status: 429, retryAfter: 8 }, putOff),
  // Deliveries that wait for more than 10 s are moved to a retry topic.
  spoilt('pauses', 'answers 429 with Retry-After: 12', 'answers 429', { status: 429, retryAfter: 12 }, putOff),
  outage,
  ofCrowd(
    'crowd-hangs',
    '1, then 10, then 25 of 50 endpoints accept requests and never respond; then all recover',
    'hang',
  ),
  ofCrowd('crowd-slow', '1, then 10, then 25 of 50 endpoints respond after 4.9 s; then all recover', {
    status: 200,
    afterMs: 4_900,
  }),
  sharedHost,
]
