import { fillDisk, fillDisks, isolateLeader, moveLeaders } from './broker-faults.ts'
import { killBrokers, killCoordinator, killLeader, spoilLink } from './faults.ts'
import type { Scenario } from './scenario.ts'
import { behindProxies, outOfKafka, overHttp, replicated, steady, times, withRetries } from './setups.ts'

export const ofBrokers: readonly Scenario[] = [
  {
    ...replicated,
    name: 'leader-killed',
    shows: 'SIGKILL of a broker that leads, then it comes back, five times; retries under way',
    faults: times(5, killLeader),
    limits: { duplicates: 150, bySender: 150, recoveryMs: 30_000, latestMs: 45_000 },
  },
  {
    ...replicated,
    name: 'coordinator-killed',
    shows: "SIGKILL of the group's coordinator, then it comes back, three times; retries under way",
    faults: times(3, killCoordinator),
    limits: { duplicates: 150, bySender: 150, recoveryMs: 15_000, latestMs: 45_000 },
  },
  {
    ...replicated,
    name: 'brokers-restarted',
    shows: 'SIGKILL of all three brokers at once, then all come back, twice; retries under way',
    faults: times(2, killBrokers(0)),
    limits: { duplicates: 150, bySender: 150, recoveryMs: 30_000, latestMs: 90_000 },
  },
  {
    ...replicated,
    name: 'disk-full',
    shows:
      'the disk of a broker that leads runs full, it ends and comes back with room; then those of all three for 5 s',
    diskMb: 256,
    faults: [fillDisk, fillDisks(5)],
    limits: { duplicates: 150, bySender: 150, recoveryMs: 30_000, latestMs: 60_000 },
  },
  {
    ...replicated,
    name: 'broker-out-of-reach',
    shows:
      'a broker that leads out of reach of the service alone for 40 s: nothing gets through, and the other brokers see nothing of it',
    behindProxy: true,
    faults: [isolateLeader(40)],
    limits: { duplicates: 1_500, recoveryMs: 30_000, latestMs: 120_000 },
  },
  {
    ...overHttp,
    name: 'leaders-moved',
    shows: 'messages by HTTP, another leader for every partition in mid-send, ten times; retries under way',
    brokers: 3,
    destinations: withRetries,
    faults: times(10, moveLeaders),
    intake: { collectors: 1, limits: { ...steady, acceptedMs: 5_000, answerMs: 5_000, broken: 'none' } },
    limits: { duplicates: 300, bySender: 300, recoveryMs: 10_000, latestMs: 30_000 },
  },
]

export const ofLinks: readonly Scenario[] = [
  {
    ...behindProxies,
    name: 'link-delayed',
    shows: 'every byte between service and broker 300 ms late for 15 s',
    faults: [spoilLink({ kind: 'delayed', ms: 300 }, 15)],
  },
  {
    ...behindProxies,
    name: 'link-slow',
    shows: 'each connection to the broker down to 20 kB/s for 15 s',
    faults: [spoilLink({ kind: 'slow', bytesPerSecond: 20_000 }, 15)],
  },
  {
    ...behindProxies,
    name: 'link-cut',
    shows: 'service and broker apart for 10 s: connections refused',
    faults: [spoilLink({ kind: 'cut' }, 10)],
  },
  {
    ...behindProxies,
    name: 'link-reset',
    shows: 'every connection to the broker reset for 5 s, twice',
    faults: times(2, spoilLink({ kind: 'reset' }, 5)),
  },
  {
    ...behindProxies,
    name: 'link-half-open',
    shows: 'connections to the broker stay open, but nothing gets through for 15 s',
    faults: [spoilLink({ kind: 'half-open' }, 15)],
  },
  ...[10, 40, 120].map(
    (seconds): Scenario => ({
      ...behindProxies,
      name: `partitioned-${seconds}`,
      shows: `service and broker apart for ${seconds} s: nothing gets through, and nobody is told`,
      faults: [spoilLink({ kind: 'half-open' }, seconds)],
      limits: { ...behindProxies.limits, latestMs: (seconds + 30) * 1_000 },
    }),
  ),
]

/** Collectors and those that deliver write behind proxies: events, and copies for the retry topics. */
const writers = {
  ...overHttp,
  behindProxy: true,
  destinations: withRetries,
  limits: { duplicates: 4_000, bySender: 4_000, recoveryMs: 30_000, latestMs: 90_000 },
} as const
/** Answers are lost for longer than is waited for one, but not so long that a collector calls itself not ready. */
const { readiness: _, ...shortOutage } = outOfKafka

export const ofAnswers: readonly Scenario[] = [
  {
    ...writers,
    name: 'answers-lost',
    shows:
      'messages by HTTP; what is written gets to the broker, and no answer comes back for 15 s, twice; retries under way',
    faults: times(2, spoilLink({ kind: 'answers-lost' }, 15)),
    intake: { collectors: 1, limits: shortOutage },
  },
  {
    ...writers,
    name: 'answers-late',
    shows: 'messages by HTTP; every answer of the broker comes 3 s late for 20 s; retries under way',
    faults: [spoilLink({ kind: 'answers-late', ms: 3_000 }, 20)],
    intake: { collectors: 1, limits: { ...steady, answerMs: 12_000, acceptedMs: 5_000, broken: 'none' } },
  },
  {
    ...writers,
    name: 'answers-torn',
    shows:
      'messages by HTTP; each connection to the broker breaks within an answer, after 2 kB of them, for 10 s, twice; retries under way',
    faults: times(2, spoilLink({ kind: 'answers-torn', bytes: 2_000 }, 10)),
    intake: { collectors: 1, limits: { ...shortOutage, refusals: 'possible_in_outages' } },
  },
]
