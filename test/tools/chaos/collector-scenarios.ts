import { killBrokers } from './broker-faults.ts'
import { impairLink } from './link-faults.ts'
import { killCollector, restartCollector } from './process-faults.ts'
import type { Scenario } from './scenario.ts'
import { httpSetup, kafkaOutageLimits, steady, times } from './setups.ts'

export const collectorScenarios: readonly Scenario[] = [
  {
    ...httpSetup,
    name: 'collector-restarted',
    shows: 'messages arrive over HTTP; two collectors are restarted with SIGTERM, one after the other, five times each',
    faults: times(10, restartCollector),
    intake: { collectors: 2, limits: { ...steady, broken: 'none' } },
    limits: { duplicates: 0, recoveryMs: 10_000, latestMs: 10_000 },
  },
  {
    ...httpSetup,
    name: 'collector-killed',
    shows: 'messages arrive over HTTP; a random one of two collectors is killed with SIGKILL, ten times',
    faults: times(10, killCollector),
    intake: { collectors: 2, limits: { ...steady, broken: 'of_victims' } },
    limits: { duplicates: 0, recoveryMs: 10_000, latestMs: 10_000 },
  },
  {
    ...httpSetup,
    name: 'collector-kafka-down',
    shows:
      'messages arrive over HTTP; all three brokers are killed with SIGKILL at the same time, and started again after 60 s',
    brokers: 3,
    load: { perSecond: 500, seconds: 20, fillerBytes: 12_000 },
    faults: [killBrokers(60)],
    // `peakMb` detects a collector that keeps the messages of the outage: they would need 350 MB
    // besides the usual 160 MB.
    intake: { collectors: 1, limits: { ...kafkaOutageLimits, peakMb: 400 } },
    // Up to 1,000 records (two seconds) are delivered to both destinations, but not committed
    // before the outage. They are repeated: up to 2,000 duplicates.
    limits: {
      ...{ duplicates: 2_000, bySender: 200, recoveryMs: 30_000, latestMs: 120_000 },
      ...{ unreadyMs: 90_000, orderedShare: 0.3 },
    },
  },
  {
    ...httpSetup,
    name: 'collector-link-half-open',
    shows: 'messages arrive over HTTP; connections to the broker stay open, but no byte passes for 40 s',
    behindProxy: true,
    faults: [impairLink({ kind: 'half-open' }, 40)],
    intake: { collectors: 2, limits: kafkaOutageLimits },
    // About 400 records (one second) are delivered to both destinations, but not committed before
    // the cut. They are repeated: about 800 duplicates.
    limits: {
      ...{ duplicates: 1_000, bySender: 100, recoveryMs: 30_000, latestMs: 90_000 },
      ...{ unreadyMs: 70_000, orderedShare: 0.5 },
    },
  },
]
