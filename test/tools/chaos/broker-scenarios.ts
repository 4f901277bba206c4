import {
  fillDisk,
  fillDisks,
  isolateLeader,
  killBrokers,
  killCoordinator,
  killLeader,
  moveLeaders,
} from './broker-faults.ts'
import type { Scenario } from './scenario.ts'
import { httpSetup, replicatedSetup, steady, times, withRetries } from './setups.ts'

const replicatedLimits = { duplicates: 150, bySender: 50, recoveryMs: 30_000, unreadyMs: 45_000 } as const

export const brokerScenarios: readonly Scenario[] = [
  {
    ...replicatedSetup,
    name: 'leader-killed',
    shows: 'a partition leader is killed with SIGKILL and started again, five times; deliveries wait in retry topics',
    faults: times(5, killLeader),
    limits: { ...replicatedLimits, latestMs: 45_000 },
  },
  {
    ...replicatedSetup,
    name: 'coordinator-killed',
    shows:
      'the group coordinator is killed with SIGKILL and started again, three times; deliveries wait in retry topics',
    faults: times(3, killCoordinator),
    limits: { ...replicatedLimits, recoveryMs: 15_000, latestMs: 45_000 },
  },
  {
    ...replicatedSetup,
    name: 'brokers-restarted',
    shows:
      'all three brokers are killed with SIGKILL at the same time and started again, twice; deliveries wait in retry topics',
    faults: times(2, killBrokers(0)),
    limits: { ...replicatedLimits, latestMs: 90_000 },
  },
  {
    ...replicatedSetup,
    name: 'disk-full',
    shows:
      'the disk of a partition leader becomes full, so the leader stops; it is started again with free space; then the disks of all three brokers are full for 5 s',
    diskMb: 256,
    faults: [fillDisk, fillDisks(5)],
    limits: { ...replicatedLimits, latestMs: 60_000 },
  },
  {
    ...replicatedSetup,
    name: 'broker-out-of-reach',
    shows: 'for 40 s, Hookline cannot reach a partition leader, which the other brokers still reach',
    behindProxy: true,
    faults: [isolateLeader(40)],
    limits: { duplicates: 500, recoveryMs: 30_000, latestMs: 120_000, unreadyMs: 70_000, orderedShare: 0.25 },
  },
  {
    ...httpSetup,
    name: 'leaders-moved',
    shows: 'messages arrive over HTTP; every partition gets another leader, ten times; deliveries wait in retry topics',
    brokers: 3,
    destinations: withRetries,
    // One process can send 426 requests per second to the slower destination. A higher load would
    // let a backlog grow.
    load: { perSecond: 200, seconds: 20 },
    faults: times(10, moveLeaders),
    intake: { collectors: 1, limits: { ...steady, acceptedMs: 5_000, answerMs: 5_000, broken: 'none' } },
    limits: { duplicates: 50, bySender: 150, recoveryMs: 10_000, latestMs: 30_000 },
  },
]
