import type { SoakScenario } from './scenario.ts'
import { standardSetup, withRetries } from './setups.ts'

export const soakScenarios: readonly SoakScenario[] = [
  {
    ...standardSetup,
    name: 'soak',
    shows: 'two processes at 70 % of their capacity for MINUTES, at first ten times that for 5 s; retries in progress',
    processes: 2,
    destinations: withRetries,
    soak: { share: 0.7, spike: { times: 10, seconds: 5 } },
    // The spike leaves a backlog that takes 30 seconds at full capacity. The normal load leaves
    // only 30 % of the capacity for it, so it takes 100 seconds.
    limits: { duplicates: 0, recoveryMs: 180_000, latestMs: 180_000 },
  },
]
