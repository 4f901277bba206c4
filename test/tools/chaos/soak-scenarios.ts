import type { SoakScenario } from './scenario.ts'
import { standardSetup, withRetries } from './setups.ts'

export const soakScenarios: readonly SoakScenario[] = [
  {
    ...standardSetup,
    name: 'soak',
    shows:
      'two processes get 70 % of the load that they can deliver, for MINUTES, and at first ten times as much for 5 s; deliveries wait in retry topics',
    processes: 2,
    destinations: withRetries,
    soak: { share: 0.7, spike: { times: 10, seconds: 5 } },
    // The backlog of the spike needs 30 s of the full capacity. Only 30 % are free, so it takes 100
    // s.
    limits: { duplicates: 0, recoveryMs: 180_000, latestMs: 180_000 },
  },
]
