import { ofAudiences } from './audience-scenarios.ts'
import { ofAnswers, ofBrokers, ofLinks } from './broker-scenarios.ts'
import { ofConditions } from './condition-scenarios.ts'
import { ofEndpoints } from './endpoint-scenarios.ts'
import { impairLink, killBrokers, killCollector, restartCollector } from './faults.ts'
import { ofMixtures, ofProcesses } from './process-scenarios.ts'
import { ofRecords } from './record-scenarios.ts'
import type { AudienceScenario, Scenario, SoakScenario } from './scenario.ts'
import { httpSetup, kafkaOutageLimits, steady, times } from './setups.ts'
import { ofSoaks } from './soak-scenarios.ts'
import { ofTopics } from './topic-scenarios.ts'

const ofCollectors: readonly Scenario[] = [
  {
    ...httpSetup,
    name: 'collector-restarted',
    shows: 'messages over HTTP, two collectors, restarted one after the other with SIGTERM, five times each',
    faults: times(10, restartCollector),
    intake: { collectors: 2, limits: { ...steady, broken: 'none' } },
    limits: { duplicates: 0, recoveryMs: 10_000, latestMs: 10_000 },
  },
  {
    ...httpSetup,
    name: 'collector-killed',
    shows: 'messages over HTTP, SIGKILL of a random one of two collectors, ten times',
    faults: times(10, killCollector),
    intake: { collectors: 2, limits: { ...steady, broken: 'of_victims' } },
    limits: { duplicates: 0, recoveryMs: 10_000, latestMs: 10_000 },
  },
  {
    ...httpSetup,
    name: 'collector-kafka-down',
    shows: 'messages over HTTP, SIGKILL of all three brokers at the same time, which are started again after 60 s',
    brokers: 3,
    load: { perSecond: 500, seconds: 20, fillerBytes: 24_000 },
    faults: [killBrokers(60)],
    intake: { collectors: 1, limits: kafkaOutageLimits },
    limits: { duplicates: 500, bySender: 500, recoveryMs: 30_000, latestMs: 90_000 },
  },
  {
    ...httpSetup,
    name: 'collector-link-half-open',
    shows: 'messages over HTTP, connections to the broker stay open, but no byte passes for 40 s',
    behindProxy: true,
    faults: [impairLink({ kind: 'half-open' }, 40)],
    intake: { collectors: 2, limits: kafkaOutageLimits },
    limits: { duplicates: 500, bySender: 500, recoveryMs: 30_000, latestMs: 90_000 },
  },
]

export type AnyScenario = Scenario | AudienceScenario | SoakScenario

/** All scenarios in the order of the table. ONLY takes their names. */
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
