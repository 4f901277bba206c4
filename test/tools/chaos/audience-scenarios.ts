import type { AudienceFault, AudienceScenario } from './scenario.ts'

/**
 * The waits before six retries. An endpoint that fails one request in twenty accepts one of the
 * seven attempts, so nothing is dead-lettered.
 */
const schedule = ['1s', '2s', '2s', '5s', '5s', '5s'] as const

const destinations = [
  { id: 'crm', failingPercent: 0 },
  { id: 'moody', failingPercent: 5, latencyMs: 100 },
] as const

const kill: AudienceFault = { kind: 'kill' }
const cut: AudienceFault = { kind: 'link', state: { kind: 'half-open' }, seconds: 19 }
/**
 * Delays all data of a link for longer than the session timeout, so that the process behind the
 * link loses its partitions.
 */
const late: AudienceFault = { kind: 'link', state: { kind: 'delayed', ms: 12_000 }, seconds: 19 }
const times = (count: number, fault: AudienceFault): readonly AudienceFault[] =>
  Array.from({ length: count }, () => fault)

export const audienceScenarios: readonly AudienceScenario[] = [
  {
    name: 'audience-killed',
    shows:
      'a list of users is synced, then synced with 4 % of the users changed, then synced again unchanged; in the first two syncs, a random one of two audiences processes and two dispatchers is killed with SIGKILL, seven times',
    processes: 2,
    lists: { members: 8_000, changedPercent: 4 },
    emitPerSecond: 400,
    destinations,
    delivery: { schedule },
    faults: [times(4, kill), times(3, kill)],
    limits: { settledMs: 60_000, latestMs: 75_000 },
  },
  {
    name: 'audience-link-cut',
    shows:
      'a list of users is synced, then synced with 10 % of the users changed, then synced again unchanged; in the first sync, one of two audiences processes loses Kafka for 19 s; in the second sync, every byte between it and Kafka is 12 s late for 19 s, and then both processes restart',
    processes: 1,
    lists: { members: 6_000, changedPercent: 10 },
    emitPerSecond: 150,
    destinations,
    delivery: { schedule },
    faults: [[cut], [late, { kind: 'restart' }]],
    limits: { settledMs: 60_000, latestMs: 75_000, unreadyMs: 60_000 },
  },
]
