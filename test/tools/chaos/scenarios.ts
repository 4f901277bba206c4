import { ofAudiences } from './audience-scenarios.ts'
import { ofAnswers, ofBrokers, ofLinks } from './broker-scenarios.ts'
import { ofConditions } from './condition-scenarios.ts'
import { ofEndpoints } from './endpoint-scenarios.ts'
import { killBrokers, killCollector, restartCollector, spoilLink } from './faults.ts'
import { ofMixtures, ofProcesses } from './process-scenarios.ts'
import { ofRecords } from './record-scenarios.ts'
import type { AudienceScenario, Scenario, SoakScenario } from './scenario.ts'
import { outOfKafka, overHttp, steady, times } from './setups.ts'
import { ofSoaks } from './soak-scenarios.ts'
import { ofTopics } from './topic-scenarios.ts'

const ofCollectors: readonly Scenario[] = [
  {
    ...overHttp,
    name: 'collector-restarted',
    shows: 'messages by HTTP, two collectors, each restarted five times in turn by SIGTERM',
    faults: times(10, restartCollector),
    intake: { collectors: 2, limits: { ...steady, broken: 'none' } },
    limits: { duplicates: 0, recoveryMs: 10_000, latestMs: 10_000 },
  },
  {
    ...overHttp,
    name: 'collector-killed',
    shows: 'messages by HTTP, SIGKILL of any of two collectors, ten times',
    faults: times(10, killCollector),
    intake: { collectors: 2, limits: { ...steady, broken: 'of_victims' } },
    limits: { duplicates: 0, recoveryMs: 10_000, latestMs: 10_000 },
  },
  {
    ...overHttp,
    name: 'collector-kafka-down',
    shows: 'messages by HTTP, SIGKILL of all three brokers at once, which come back after 60 s',
    brokers: 3,
    load: { perSecond: 500, seconds: 20, fillerBytes: 24_000 },
    faults: [killBrokers(60)],
    intake: { collectors: 1, limits: outOfKafka },
    limits: { duplicates: 500, bySender: 500, recoveryMs: 30_000, latestMs: 90_000 },
  },
  {
    ...overHttp,
    name: 'collector-link-half-open',
    shows: 'messages by HTTP, connections to the broker stay open, but nothing gets through for 40 s',
    behindProxy: true,
    faults: [spoilLink({ kind: 'half-open' }, 40)],
    intake: { collectors: 2, limits: outOfKafka },
    limits: { duplicates: 500, bySender: 500, recoveryMs: 30_000, latestMs: 90_000 },
  },
]

export type AnyScenario = Scenario | AudienceScenario | SoakScenario

/** In the order of the table. Each name is for ONLY. */
export const scenarios: readonly AnyScenario[] = [
  ...ofProcesses,
  ...ofBrokers,
  ...ofLinks,
  ...ofAnswers,
  ...ofTopics,
  ...ofMixtures,
  ...ofEndpoints,
  ...ofRecords,
  ...ofConditions,
  ...ofCollectors,
  ...ofAudiences,
  ...ofSoaks,
]
