import type { SoakScenario } from './scenario.ts'
import { standard, withRetries } from './setups.ts'

export const ofSoaks: readonly SoakScenario[] = [
  {
    ...standard,
    name: 'soak',
    shows: 'two processes at 70 % of what they can do for MINUTES, at first ten times that for 5 s; retries under way',
    processes: 2,
    destinations: withRetries,
    soak: { share: 0.7, spike: { times: 10, seconds: 5 } },
    // Of a spike 31 seconds of full work are left over, and 30 % of the work can go into them.
    limits: { duplicates: 0, recoveryMs: 180_000, latestMs: 180_000 },
  },
]
