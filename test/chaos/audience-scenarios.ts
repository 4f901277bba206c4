import type { AudienceScenario } from './scenario.ts'

/** More attempts than a call that fails one time in twenty ever needs: nothing is given up. */
const schedule = ['1s', '2s', '2s', '5s', '5s', '5s'] as const

export const ofAudiences: readonly AudienceScenario[] = [
  {
    name: 'audience-killed',
    shows:
      'a full sync, then one with 4 % changed; SIGKILL of any of two audiences and two delivering processes, seven times',
    processes: 2,
    lists: { members: 8_000, changedPercent: 4 },
    emitPerSecond: 400,
    destinations: [
      { id: 'crm', failingPercent: 0 },
      { id: 'moody', failingPercent: 5 },
    ],
    delivery: { schedule },
    kills: [4, 3],
    limits: { settledMs: 60_000 },
  },
]
