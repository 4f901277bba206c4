import { impairLink } from './link-faults.ts'
import type { Scenario } from './scenario.ts'
import { httpSetup, kafkaOutageLimits, perWebhook, proxiedSetup, steady, times, withRetries } from './setups.ts'

/** Returns the time in seconds that the slow destination needs for its backlog after an outage. */
function drainSeconds(outageSeconds: number): number {
  const { processes, load } = proxiedSetup
  const capacity = (processes * perWebhook * 1_000) / withRetries[1].latencyMs
  return (outageSeconds * load.perSecond) / (capacity - load.perSecond)
}

export const linkScenarios: readonly Scenario[] = [
  {
    ...proxiedSetup,
    name: 'link-delayed',
    shows: 'for 15 s, every byte between Hookline and the broker is 300 ms late',
    faults: [impairLink({ kind: 'delayed', ms: 300 }, 15)],
  },
  {
    ...proxiedSetup,
    name: 'link-slow',
    shows: 'for 15 s, each connection to the broker is limited to 20 kB/s',
    faults: [impairLink({ kind: 'slow', bytesPerSecond: 20_000 }, 15)],
  },
  {
    ...proxiedSetup,
    name: 'link-cut',
    shows: 'connections to the broker are refused for 10 s',
    faults: [impairLink({ kind: 'cut' }, 10)],
  },
  {
    ...proxiedSetup,
    name: 'link-reset',
    shows: 'every connection to the broker is reset for 5 s, twice',
    faults: times(2, impairLink({ kind: 'reset' }, 5)),
  },
  {
    ...proxiedSetup,
    name: 'link-half-open',
    shows: 'connections to the broker stay open, but no byte passes for 15 s',
    faults: [impairLink({ kind: 'half-open' }, 15)],
  },
  ...[10, 40, 120].map(
    (seconds): Scenario => ({
      ...proxiedSetup,
      name: `partitioned-${seconds}`,
      shows: `for ${seconds} s, no byte passes between Hookline and the broker, and no connection closes`,
      faults: [impairLink({ kind: 'half-open' }, seconds)],
      limits: {
        ...proxiedSetup.limits,
        latestMs: (seconds + drainSeconds(seconds) + 30) * 1_000,
        unreadyMs: (seconds + 30) * 1_000,
        // Part of the backlog is deferred. The order of deferred messages is not judged.
        ...(seconds > 10 && { orderedShare: 0.3 }),
      },
    }),
  ),
]

/** Collectors and dispatchers reach Kafka through proxies, because both write records. */
const writers = {
  ...httpSetup,
  behindProxy: true,
  destinations: withRetries,
} as const
const writerLimits = { recoveryMs: 30_000, latestMs: 90_000, unreadyMs: 50_000, orderedShare: 0.3 } as const
/**
 * Limits while responses of the broker are lost. They omit `readiness`, because the fault is too
 * short to make a collector not ready.
 */
const { readiness: _, ...shortOutage } = kafkaOutageLimits

export const answerScenarios: readonly Scenario[] = [
  {
    ...writers,
    name: 'answers-lost',
    shows:
      'messages arrive over HTTP; requests reach the broker, but all its responses are lost for 15 s, twice; deliveries wait in retry topics',
    faults: times(2, impairLink({ kind: 'answers-lost' }, 15)),
    intake: { collectors: 1, limits: shortOutage },
    limits: { duplicates: 1_500, bySender: 500, ...writerLimits },
  },
  {
    ...writers,
    name: 'answers-late',
    shows:
      'messages arrive over HTTP; for 20 s, every response of the broker is 3 s late; deliveries wait in retry topics',
    faults: [impairLink({ kind: 'answers-late', ms: 3_000 }, 20)],
    intake: { collectors: 1, limits: { ...steady, answerMs: 12_000, acceptedMs: 5_000, broken: 'none' } },
    limits: { duplicates: 150, bySender: 150, ...writerLimits },
  },
  {
    ...writers,
    name: 'answers-torn',
    shows:
      'messages arrive over HTTP; for 10 s, each connection to the broker breaks within a response, after 2 kB; this happens twice; deliveries wait in retry topics',
    faults: times(2, impairLink({ kind: 'answers-torn', bytes: 2_000 }, 10)),
    intake: { collectors: 1, limits: { ...shortOutage, refusals: 'possible_in_outages' } },
    limits: { duplicates: 150, bySender: 3_000, ...writerLimits },
  },
]
