import { ofAudiences } from './audience-scenarios.ts'
import {
  freezeProcess,
  joinProcess,
  killBrokers,
  killCollector,
  killCoordinator,
  killLeader,
  killProcess,
  restartCollector,
  restartOldest,
  spoilEndpoint,
  spoilLink,
} from './faults.ts'
import type { Script } from './receiver.ts'
import type { AudienceScenario, Fault, Scenario } from './scenario.ts'

const times = (count: number, fault: Fault): Fault[] => Array.from({ length: count }, () => fault)

const crm = { id: 'crm' }
/** Each 50th message fails at first: few enough that no breaker opens, enough that copies are on their way in the retry topics at any time. */
const fiftiethFailsOnce: Script = (id, call) => (call === 1 && Number(id.slice(2)) % 50 === 7 ? 503 : 200)
export const withRetries = [crm, { id: 'moody', script: fiftiethFailsOnce }] as const

const standard = {
  brokers: 1,
  processes: 3,
  destinations: [crm],
  delivery: { schedule: ['2s', '5s', '10s'] },
  load: { perSecond: 500, seconds: 20 },
} as const
/** A session lasts 6 s; what a member has left behind belongs to others soon after. */
const takenOver = { recoveryMs: 10_000, pauseMs: 1_000 } as const

const ofProcesses: readonly Scenario[] = [
  {
    ...standard,
    name: 'rolling-restart',
    shows: 'three processes, each restarted five times in turn by SIGTERM',
    faults: times(15, restartOldest),
    limits: { duplicates: 'none', ...takenOver },
  },
  {
    ...standard,
    name: 'killed',
    shows: 'SIGKILL of any of three processes, ten times',
    faults: times(10, killProcess),
    limits: { duplicates: 'of_victims', ...takenOver },
  },
  {
    ...standard,
    name: 'zombie',
    shows: 'SIGSTOP of any process until the others have its partitions, then SIGCONT, three times',
    faults: times(3, freezeProcess),
    limits: { duplicates: 'of_victims', ...takenOver },
  },
  {
    ...standard,
    name: 'join',
    shows: 'a fourth process joins three',
    faults: [joinProcess],
    limits: { duplicates: 'none', ...takenOver },
  },
]

const replicated = {
  ...standard,
  brokers: 3,
  destinations: withRetries,
  load: { perSecond: 200, seconds: 20 },
} as const

const ofBrokers: readonly Scenario[] = [
  {
    ...replicated,
    name: 'leader-killed',
    shows: 'SIGKILL of a broker that leads, then it comes back, five times; retries under way',
    faults: times(5, killLeader),
    limits: { duplicates: 'counted', recoveryMs: 30_000 },
  },
  {
    ...replicated,
    name: 'coordinator-killed',
    shows: "SIGKILL of the group's coordinator, then it comes back, three times; retries under way",
    faults: times(3, killCoordinator),
    limits: { duplicates: 'counted', recoveryMs: 15_000 },
  },
  {
    ...replicated,
    name: 'brokers-restarted',
    shows: 'SIGKILL of all three brokers at once, then all come back, twice; retries under way',
    faults: times(2, killBrokers(0)),
    limits: { duplicates: 'counted', recoveryMs: 30_000 },
    commitsGoBack: true,
  },
]

const behindProxies = {
  ...standard,
  behindProxy: true,
  processes: 2,
  destinations: withRetries,
  load: { perSecond: 200, seconds: 10 },
  limits: { duplicates: 'counted', recoveryMs: 30_000 },
} as const

const ofLinks: readonly Scenario[] = [
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
]

/** Beside a healthy destination; the waits of the schedule are longer than the fault, so that nothing is given up. */
const ill = {
  ...standard,
  processes: 2,
  destinations: [crm, { id: 'ill' }],
  delivery: { schedule: ['5s', '10s', '30s', '1m'] },
  load: { perSecond: 50, seconds: 10 },
  // A breaker that has opened lets a probe through each 30 s, and what it has deferred waits as long again.
  limits: { duplicates: 'counted', recoveryMs: 60_000 },
} as const

const ofEndpoints: readonly Scenario[] = [
  {
    ...ill,
    name: 'endpoint-fails',
    shows: 'one of two endpoints answers 503 for 15 s, then heals',
    faults: [spoilEndpoint('ill', 'answers 503', () => 503, 15)],
  },
  {
    ...ill,
    name: 'endpoint-hangs',
    shows: 'one of two endpoints accepts calls and never answers for 15 s, then heals',
    faults: [spoilEndpoint('ill', 'hangs', () => 'hang', 15)],
  },
  {
    ...ill,
    name: 'endpoint-resets',
    shows: 'one of two endpoints resets every connection for 15 s, then heals',
    faults: [spoilEndpoint('ill', 'resets', () => 'reset', 15)],
  },
]

/** Neither budget of a collector, of 64 MiB each, may be passed; beside them is what the process is, and what is left over until it is collected. */
const collectorPeakMb = 512
/** What comes in over HTTP is promised to arrive only when it was answered 200. */
const overHttp = {
  ...standard,
  processes: 1,
  load: { perSecond: 400, seconds: 20 },
} as const
const steady = { refusals: 'none', answerMs: 2_000, acceptedMs: 1_000, peakMb: collectorPeakMb } as const
/** Requests under way when Kafka goes are answered after ten seconds at the latest. */
const outOfKafka = {
  refusals: 'in_outages',
  broken: 'none',
  answerMs: 12_000,
  acceptedMs: 15_000,
  readiness: { unreadyMs: 27_000, readyMs: 15_000 },
  peakMb: collectorPeakMb,
} as const

const ofCollectors: readonly Scenario[] = [
  {
    ...overHttp,
    name: 'collector-restarted',
    shows: 'messages by HTTP, two collectors, each restarted five times in turn by SIGTERM',
    faults: times(10, restartCollector),
    intake: { collectors: 2, limits: { ...steady, broken: 'none' } },
    limits: { duplicates: 'none', recoveryMs: 10_000 },
  },
  {
    ...overHttp,
    name: 'collector-killed',
    shows: 'messages by HTTP, SIGKILL of any of two collectors, ten times',
    faults: times(10, killCollector),
    intake: { collectors: 2, limits: { ...steady, broken: 'of_victims' } },
    limits: { duplicates: 'none', recoveryMs: 10_000 },
  },
  {
    ...overHttp,
    name: 'collector-kafka-down',
    shows: 'messages by HTTP, SIGKILL of all three brokers at once, which come back after 60 s',
    brokers: 3,
    load: { perSecond: 500, seconds: 20, fillerBytes: 24_000 },
    faults: [killBrokers(60)],
    intake: { collectors: 1, limits: outOfKafka },
    limits: { duplicates: 'counted', recoveryMs: 30_000 },
    commitsGoBack: true,
  },
  {
    ...overHttp,
    name: 'collector-link-half-open',
    shows: 'messages by HTTP, connections to the broker stay open, but nothing gets through for 40 s',
    behindProxy: true,
    faults: [spoilLink({ kind: 'half-open' }, 40)],
    intake: { collectors: 2, limits: outOfKafka },
    limits: { duplicates: 'counted', recoveryMs: 30_000 },
  },
]

/** In the order of the table. Each name is for ONLY. */
export const scenarios: readonly (Scenario | AudienceScenario)[] = [
  ...ofProcesses,
  ...ofBrokers,
  ...ofLinks,
  ...ofEndpoints,
  ...ofCollectors,
  ...ofAudiences,
]
