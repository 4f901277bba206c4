import { operatorKey } from '../../support/operator/scripted-deletion-and-audience-api.ts'
import { killAnyProcess } from './process-faults.ts'
import type { Script } from './receiver.ts'
import type { JobsScenario } from './scenario.ts'
import { crm, httpSetup, steady, times } from './setups.ts'

/** The endpoint rejects all requests for this time, in ms, and then accepts all for this time. */
const periodMs = 10_000
const refusesAtTimes: Script = () => (Math.floor(performance.now() / periodMs) % 2 === 0 ? 400 : 200)

export const jobsScenarios: readonly JobsScenario[] = [
  {
    ...httpSetup,
    name: 'jobs-killed',
    shows:
      'replays and resends run under load, one after another; a random one of two dispatchers, two collectors and two operator processes is killed with SIGKILL, twenty times',
    processes: 2,
    load: { perSecond: 60, seconds: 20 },
    destinations: [crm, { id: 'strict', script: refusesAtTimes }, { id: 'resent', latencyMs: 100 }],
    faults: times(20, killAnyProcess),
    // These waits are longer than usual, because a job whose process is killed waits 10 s for
    // another process.
    calmMs: { from: 1_000, to: 8_000 },
    intake: { collectors: 2, limits: { ...steady, broken: 'of_victims' } },
    jobs: { operators: 2, replayed: 'strict', resent: 'resent', rate: 100 },
    configuration: () => ({
      operator: { listen: '127.0.0.1:0', keys: [{ name: 'ada', role: 'operate', key: operatorKey }] },
    }),
    limits: { duplicates: 0, recoveryMs: 10_000, latestMs: 40_000 },
  },
]
