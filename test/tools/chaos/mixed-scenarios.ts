import { pairOfFaults } from './mixed-faults.ts'
import type { Scenario } from './scenario.ts'
import { oneHost, replicatedSetup, times, withRetries } from './setups.ts'

export const mixedScenarios: readonly Scenario[] = [
  {
    ...replicatedSetup,
    name: 'mixed',
    shows:
      'two of these fail at the same time: a process, a broker, the links to the brokers, an endpoint; six times; deliveries wait in retry topics',
    behindProxy: true,
    faults: times(6, pairOfFaults(withRetries)),
    // Several faults can hit one message, so the schedule is long: the last attempts begin after
    // all faults.
    delivery: { schedule: ['2s', '5s', '10s', '30s', '30s', '1m', '1m'], ...oneHost },
    // The limits are high, because an open circuit breaker allows a probe only every 30 s, and the
    // other records of its destination may wait up to 30 s more.
    limits: { duplicates: 750, bySender: 100, recoveryMs: 60_000, latestMs: 150_000, unreadyMs: 60_000 },
  },
]
