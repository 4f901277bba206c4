import { freezeProcess, joinProcess, killProcess, restartOldest } from './faults.ts'
import type { Scenario } from './scenario.ts'
import { standard, takenOver, times } from './setups.ts'

export const ofProcesses: readonly Scenario[] = [
  {
    ...standard,
    name: 'rolling-restart',
    shows: 'three processes, each restarted five times in turn by SIGTERM',
    faults: times(15, restartOldest),
    limits: { duplicates: 'none', ...takenOver },
  },
  {
    ...standard,
    name: 'killed',
    shows: 'SIGKILL of any of three processes, ten times',
    faults: times(10, killProcess),
    limits: { duplicates: 'of_victims', ...takenOver },
  },
  {
    ...standard,
    name: 'zombie',
    shows: 'SIGSTOP of any process until the others have its partitions, then SIGCONT, three times',
    faults: times(3, freezeProcess),
    limits: { duplicates: 'of_victims', ...takenOver },
  },
  {
    ...standard,
    name: 'join',
    shows: 'a fourth process joins three',
    faults: [joinProcess],
    limits: { duplicates: 'none', ...takenOver },
  },
]
