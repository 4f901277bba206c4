import type { SoakScenario } from './scenario.ts'
import { standardSetup, withRetries } from './setups.ts'

export const soakScenarios: readonly SoakScenario[] = [
  {
    ...standardSetup,
    name: 'soak',
    shows:
      'two processes get 70 % of their measured capacity for MINUTES, and at first ten times as much for 5 s; deliveries wait in retry topics',
    processes: 2,
    destinations: withRetries,
    soak: { share: 0.7, spike: { times: 10, seconds: 5 } },
    // The spike's backlog needs 100 s, because the usual load leaves only 30 % of the capacity for
    // it.
    limits: { duplicates: 0, recoveryMs: 180_000, latestMs: 180_000 },
  },
]
