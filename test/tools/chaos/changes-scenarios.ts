import { changedConfiguration } from './changed-destinations.ts'
import { killDispatcherOrOperator } from './process-faults.ts'
import type { ChangesScenario } from './scenario.ts'
import { crm, lessSlow, standardSetup, times } from './setups.ts'

export const changesScenarios: readonly ChangesScenario[] = [
  {
    ...standardSetup,
    name: 'changes-killed',
    shows:
      'the operator API changes 50 destinations 1,000 times under load, 50 times concurrently before each fault; a random one of two dispatchers and two operator processes is killed with SIGKILL, twenty times',
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
