import type { Load } from './model.ts'

export interface Case extends Load {
  readonly title: string
}

export const cases: readonly Case[] = [
  {
    title: 'a shop',
    ...{ eventsPerSecond: 100, destinations: 1, answerMs: 200, hosts: 10, members: 0, outage: { share: 1, hours: 1 } },
  },
  {
    title: 'a few brands',
    ...{
      eventsPerSecond: 1_000,
      destinations: 2,
      answerMs: 200,
      hosts: 20,
      members: 100_000,
      outage: { share: 0.5, hours: 1 },
    },
  },
  {
    title: 'a retailer',
    ...{
      eventsPerSecond: 10_000,
      destinations: 2,
      answerMs: 100,
      hosts: 100,
      members: 1e6,
      outage: { share: 0.2, hours: 1 },
    },
  },
  {
    title: 'a platform',
    ...{
      eventsPerSecond: 100_000,
      destinations: 1,
      answerMs: 100,
      hosts: 1_000,
      members: 1e7,
      outage: { share: 0.1, hours: 1 },
    },
  },
  {
    title: 'a million a second',
    ...{
      eventsPerSecond: 1e6,
      destinations: 1,
      answerMs: 100,
      hosts: 10_000,
      members: 5e7,
      outage: { share: 0.05, hours: 1 },
    },
  },
]

/** In each row, a share of `outageOf` deliveries per second fails for some hours. */
export const outages: readonly { readonly share: number; readonly hours: number }[] = [0.01, 0.1, 0.5].flatMap(share =>
  [0.25, 1, 3, 6].map(hours => ({ share, hours })),
)
export const outageOf = 10_000
