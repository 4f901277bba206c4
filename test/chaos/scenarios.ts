import { ofAudiences } from './audience-scenarios.ts'
import { ofAnswers, ofBrokers, ofLinks } from './broker-scenarios.ts'
import { killBrokers, killCollector, restartCollector, spoilEndpoint, spoilLink } from './faults.ts'
import { ofProcesses } from './process-scenarios.ts'
import type { AudienceScenario, Scenario } from './scenario.ts'
import { crm, outOfKafka, overHttp, standard, steady, times } from './setups.ts'

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
  ...ofAnswers,
  ...ofEndpoints,
  ...ofCollectors,
  ...ofAudiences,
]
