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
    // The endpoint can fail in several of the six faults, and then many attempts of one message
    // fail. The schedule is long, so that the last attempts of the message begin after all faults.
    delivery: { schedule: ['2s', '5s', '10s', '30s', '30s', '1m', '1m'], ...oneHost },
    // The time limits are long, because circuit breakers open. An open circuit breaker allows one
    // probe every 30 s. The other records of its destination are deferred, and may wait up to 30 s
    // more.
    limits: { duplicates: 750, bySender: 100, recoveryMs: 60_000, latestMs: 150_000, unreadyMs: 60_000 },
  },
]
