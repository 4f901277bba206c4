import { changedConfiguration } from './changed-destinations.ts'
import { killDispatcherOrOperator } from './process-faults.ts'
import type { ChangesScenario } from './scenario.ts'
import { crm, lessSlow, standardSetup, times } from './setups.ts'

export const changesScenarios: readonly ChangesScenario[] = [
  {
    ...standardSetup,
    name: 'changes-killed',
    shows:
      '1,000 changes of 50 destinations through the operator API under load, 50 of them concurrently before each fault; SIGKILL of a random one of two dispatchers and two operator processes, twenty times',
    processes: 2,
    dispatchersOnly: true,
    load: { perSecond: 60, seconds: 20 },
    destinations: [crm, lessSlow],
    faults: times(20, killDispatcherOrOperator),
    changes: {
      ...{ operators: 2, destinations: 50, perFault: 50, eventsPerSecond: 6 },
      faultAfterMs: { from: 0, to: 600 },
    },
    configuration: changedConfiguration,
    limits: { duplicates: 0, recoveryMs: 10_000, latestMs: 40_000 },
  },
]
