import { parseDuration } from '../../../src/core/units.ts'
import { type AttemptLimits, judgeAttempts } from './attempts.ts'
import { healAll, sicken, spoilEndpoint, watch } from './endpoint-faults.ts'
import { type Examined, together } from './examined.ts'
import type { Answer } from './ledger.ts'
import { minutes } from './minutes.ts'
import { judgePromptness, type Watched } from './promptness.ts'
import type { Scenario } from './scenario.ts'
import { crm, standard } from './setups.ts'
import type { Injected } from './verdict.ts'
import type { World } from './world.ts'

/** Beside an endpoint that is well: nobody else's trouble may be noticed there. */
const unnoticed = { withinMs: 1_000, share: 0.999 } as const
/** Longer than any fault here lasts, so that nothing is given up. */
const schedule = ['5s', '10s', '30s', '1m', '5m', '5m', '10m'] as const
const waits = schedule.map(text => parseDuration(text) as number)
const processes = 2
/** As the configuration has it when nothing is said, in each process. */
const perWebhook = 64

const ill = {
  ...standard,
  processes,
  destinations: [crm, { id: 'ill' }, { id: 'partly' }],
  // All of them are on one host.
  delivery: { schedule, perHost: 1_000 },
  load: { perSecond: 50, seconds: 10 },
} as const

/** On schedule to the second: neither a breaker nor a lack of places puts off what goes to `partly`. */
const onSchedule: AttemptLimits = { lateMs: 2_000, atOnce: processes * perWebhook }
/** A breaker that has opened lets a probe through each 30 s, and what it has put off waits 10 s, 30 s, a minute. */
const putOff: AttemptLimits = { lateMs: 60_000, atOnce: processes * perWebhook }

/** The attempts at both endpoints that were spoilt, and the third one, which has to notice nothing. */
const examined =
  (limits: { readonly ill: AttemptLimits; readonly partly: AttemptLimits } = { ill: putOff, partly: onSchedule }) =>
  async ({ ledger, patience }: World, injected: readonly Injected[]): Promise<Examined> => {
    const { calls, deliveries } = ledger
    const watched = injected.map(({ what, at, from }) => ({
      what: `crm while ${what}`,
      from: at,
      to: from,
      destinations: ['crm'],
    }))
    const attempts = (['ill', 'partly'] as const).map(destination =>
      judgeAttempts({ destination, calls, schedule: waits, limits: limits[destination], patience }),
    )
    const well = judgePromptness({
      acknowledged: ledger.acknowledged(),
      deliveries,
      watched,
      limits: unnoticed,
      patience,
    })
    return together([...attempts, well])
  }

const spoilt = (name: string, what: string, kind: string, answer: Answer): Scenario => ({
  ...ill,
  name: `endpoint-${name}`,
  shows: `one of three endpoints ${what} for 15 s, a second one to one message in ten; then both heal`,
  faults: [spoilEndpoint('ill', 'partly', kind, answer, 15)],
  limits: { duplicates: 0, recoveryMs: 60_000, latestMs: 120_000 },
  examine: examined(),
})

/** Few places and a slow answer, so that what a lane allows can be told from what would be a stampede. */
const narrow = { perWebhook: 8, latencyMs: 100 } as const
const laneAllows = {
  atOnce: processes * narrow.perWebhook,
  perSecond: (processes * narrow.perWebhook * 1_000) / narrow.latencyMs,
}
/** The longest of the standing tiers that what waits can have climbed to, 60 s in the first two minutes, then five minutes. */
const longestTierMs = minutes <= 2 ? 60_000 : 300_000
const arrivedMs = minutes * 60_000 * (ill.load.perSecond / (laneAllows.perSecond - ill.load.perSecond))
const backMs = 30_000 + longestTierMs + arrivedMs
/** What becomes due when the outage has just begun waits behind the breaker for all of it. */
const putOffMs = minutes * 60_000 + backMs

const outage: Scenario = {
  ...ill,
  name: 'endpoint-outage',
  shows: `one of three endpoints answers 503 for ${minutes} min, a second one to one message in ten; then both heal, and the backlog drains`,
  destinations: [crm, { id: 'ill', latencyMs: narrow.latencyMs }, { id: 'partly' }],
  delivery: { schedule, perHost: 1_000, perWebhook: narrow.perWebhook },
  faults: [spoilEndpoint('ill', 'partly', 'answers 503', 503, minutes * 60)],
  limits: { duplicates: 0, recoveryMs: backMs, latestMs: putOffMs },
  settleMs: 2 * backMs,
  examine: examined({
    ill: { lateMs: putOffMs, ...laneAllows },
    partly: { ...onSchedule, atOnce: laneAllows.atOnce },
  }),
}

const crowd = Array.from({ length: 50 }, (_, index) => ({ id: `shop-${index + 1}` }))
const ids = crowd.map(({ id }) => id)
const stepSeconds = 12
const illCounts = [0, 1, 10, 25] as const

/** Each event goes to all of them, so that each one's trouble sits in every partition. */
const ofCrowd = (name: string, shows: string, answer: Answer): Scenario => ({
  ...standard,
  processes,
  name,
  shows,
  destinations: crowd,
  delivery: { schedule, perHost: 1_000 },
  load: { perSecond: 10, seconds: 10 },
  faults: [
    watch(stepSeconds),
    ...illCounts.slice(1).map(count => sicken(ids.slice(0, count), answer, stepSeconds, ids.at(-1) as string)),
    healAll(ids.slice(0, Math.max(...illCounts))),
  ],
  // An answer that comes at 4.9 s may come too late for its caller.
  limits: { duplicates: 500, recoveryMs: 90_000, latestMs: 150_000 },
  examine: async ({ ledger, patience }, injected) => {
    const watched = illCounts.flatMap((count, index): Watched[] => {
      const step = injected[index]
      const what = `${count} of ${ids.length} ill`
      return step === undefined ? [] : [{ what, from: step.at, to: step.from, destinations: ids.slice(count) }]
    })
    const { deliveries } = ledger
    return judgePromptness({ acknowledged: ledger.acknowledged(), deliveries, watched, limits: unnoticed, patience })
  },
})

export const ofEndpoints: readonly Scenario[] = [
  spoilt('fails', 'answers 503', 'answers 503', 503),
  spoilt('hangs', 'accepts calls and never answers', 'hangs', 'hang'),
  spoilt('resets', 'resets every connection', 'resets', 'reset'),
  spoilt('breaks-off', 'answers 200 and breaks off in the body, which is a success,', 'breaks off', 'half'),
  spoilt('trickles', 'answers a byte each half second', 'trickles', 'trickle'),
  spoilt('limits', 'answers 429 with Retry-After: 8', 'answers 429', { status: 429, retryAfter: 8 }),
  outage,
  ofCrowd('crowd-hangs', 'of 50 endpoints 1, then 10, then 25 accept calls and never answer; then all heal', 'hang'),
  ofCrowd('crowd-slow', 'of 50 endpoints 1, then 10, then 25 answer after 4.9 s; then all heal', {
    status: 200,
    afterMs: 4_900,
  }),
]
