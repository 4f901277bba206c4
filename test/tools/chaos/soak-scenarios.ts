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
    // After the spike, the processes need 100 s to deliver the backlog: at full capacity they would
    // need 30 s, but 70 % of the capacity is used by the normal load.
    limits: { duplicates: 0, recoveryMs: 180_000, latestMs: 180_000 },
  },
]
