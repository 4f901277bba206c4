import {
  freezeProcess,
  joinProcess,
  killProcess,
  killProcesses,
  restartOldest,
  suspendProcess,
} from './process-faults.ts'
import type { Scenario } from './scenario.ts'
import { crm, lessSlow, standardSetup, takeoverLimits, times } from './setups.ts'

export const processScenarios: readonly Scenario[] = [
  {
    ...standardSetup,
    name: 'rolling-restart',
    shows: 'three processes are restarted with SIGTERM, one after the other, twenty times each',
    faults: times(60, restartOldest),
    calmMs: { from: 0, to: 1_000 },
    limits: { duplicates: 0, ...takeoverLimits },
  },
  {
    ...standardSetup,
    name: 'killed',
    shows: 'a random one of three processes is killed with SIGKILL, ten times',
    faults: times(10, killProcess),
    // `latestMs`: several kills in a row may hit the current owner of the same partitions. Between
    // two kills, the owner cannot deliver the backlog of the destination `slow` completely.
    limits: { duplicates: 0, ...takeoverLimits, latestMs: 90_000 },
  },
  {
    ...standardSetup,
    name: 'killed-50',
    shows:
      'one, then two, then all three processes are killed with SIGKILL at the same time; this is repeated until 50 were killed',
    faults: [...Array.from({ length: 8 }, () => [1, 2, 3].map(killProcesses)).flat(), killProcesses(2)],
    // At times, one process must deliver the whole load. The destination `slow` would then get a
    // growing backlog, so the scenario has `lessSlow` instead.
    destinations: [crm, lessSlow],
    calmMs: { from: 0, to: 1_000 },
    // `recoveryMs`: a new member waits until the sessions of killed members end. `pauseMs`:
    // starting processes take CPU time from others.
    limits: {
      ...{ duplicates: 0, ...takeoverLimits, recoveryMs: 25_000, pauseMs: 2_000, latestMs: 90_000 },
      ...{ unreadyMs: 30_000, orderedShare: 0.5 },
    },
  },
  {
    ...standardSetup,
    name: 'zombie',
    shows:
      'a random process is frozen with SIGSTOP until the others own its partitions, and then continued with SIGCONT, three times',
    faults: times(3, freezeProcess),
    limits: { duplicates: 0, ...takeoverLimits, unreadyMs: 25_000 },
  },
  {
    ...standardSetup,
    name: 'suspended',
    shows:
      'a random process is frozen with SIGSTOP for 3 s, half of its session timeout, and then continued with SIGCONT, five times',
    faults: times(5, suspendProcess(3)),
    limits: { duplicates: 0, recoveryMs: 10_000, latestMs: 40_000 },
  },
  {
    ...standardSetup,
    name: 'join',
    shows: 'a fourth process joins three running ones',
    faults: [joinProcess],
    limits: { duplicates: 0, ...takeoverLimits },
  },
]
