import { freezeProcess, joinProcess, killProcess, killProcesses, restartOldest, suspendProcess } from './faults.ts'
import { pairOfFaults } from './mixed-faults.ts'
import type { Scenario } from './scenario.ts'
import { replicated, standard, takenOver, times, withRetries } from './setups.ts'

export const ofProcesses: readonly Scenario[] = [
  {
    ...standard,
    name: 'rolling-restart',
    shows: 'three processes, each restarted twenty times in turn by SIGTERM',
    faults: times(60, restartOldest),
    calmMs: { from: 0, to: 1_000 },
    limits: { duplicates: 0, ...takenOver },
  },
  {
    ...standard,
    name: 'killed',
    shows: 'SIGKILL of any of three processes, ten times',
    faults: times(10, killProcess),
    limits: { duplicates: 0, ...takenOver },
  },
  {
    ...standard,
    name: 'killed-50',
    shows: 'SIGKILL of one, of two, of all three processes at once, in turn: fifty in all',
    faults: [...Array.from({ length: 8 }, () => [1, 2, 3].map(killProcesses)).flat(), killProcesses(2)],
    calmMs: { from: 0, to: 1_000 },
    // A join waits for each that is dead until its session ends, and the next ones die while the last ones are taken over.
    // Meanwhile more comes for the slow destination than it takes: its backlog is deferred up to four times, each time for longer.
    // Up to three processes start at the same time, on the cores of the one that keeps its partitions: its pause may be longer.
    limits: { duplicates: 0, ...takenOver, recoveryMs: 25_000, pauseMs: 2_000, latestMs: 300_000 },
  },
  {
    ...standard,
    name: 'zombie',
    shows: 'SIGSTOP of any process until the others have its partitions, then SIGCONT, three times',
    faults: times(3, freezeProcess),
    limits: { duplicates: 0, ...takenOver },
  },
  {
    ...standard,
    name: 'suspended',
    shows: 'SIGSTOP of any process for 3 s, half its session, then SIGCONT, five times',
    faults: times(5, suspendProcess(3)),
    limits: { duplicates: 0, recoveryMs: 10_000, latestMs: 40_000 },
  },
  {
    ...standard,
    name: 'join',
    shows: 'a fourth process joins three',
    faults: [joinProcess],
    limits: { duplicates: 0, ...takenOver },
  },
]

export const ofMixtures: readonly Scenario[] = [
  {
    ...replicated,
    name: 'mixed',
    shows: 'two at once of: a process, a broker, the links or an endpoint spoilt, six times; retries under way',
    behindProxy: true,
    faults: times(6, pairOfFaults(withRetries)),
    // An endpoint that is unwell twice within seconds fails four attempts: the fifth is to come when all pairs are over.
    delivery: { schedule: ['2s', '5s', '10s', '3m'] },
    settleMs: 300_000,
    // A breaker that has opened lets a probe through each 30 s, and what it has deferred waits as long again.
    limits: { duplicates: 2_000, bySender: 2_000, recoveryMs: 60_000, latestMs: 300_000 },
  },
]
