import { type AudienceDirectory, audienceDirectory } from '../../../src/core/audience/configured-audiences.ts'
import { membershipKey } from '../../../src/core/audience/membership-and-watermark-records.ts'
import { destinationOf } from '../builders.ts'
import type { Fate } from './model-destinations.ts'

export const userNames = ['ann', 'bob', 'cem', 'dee']
export const destinations = ['crm', 'erp']
export const audienceCases = [
  { name: 'Shoppers', kind: 'audience', values: ['true', 'true', 'false'] },
  { name: 'Score', kind: 'trait', values: ['1', '"gold"', '["a","b"]', 'null'] },
] as const
export type AudienceCase = (typeof audienceCases)[number]

/** Frequent fates occur several times. */
export const fates: readonly Fate[] = [
  ...Array<Fate>(6).fill('arrives'),
  'arrives_twice_reported',
  'arrives_uncommitted',
  'times_out',
  'times_out',
  'given_up',
  'given_up',
  'doubles',
  'vanishes',
]

export const commandWeights = {
  begin: 6,
  observe: 26,
  end: 5,
  cut: 1,
  straggle: 2,
  happen: 26,
  advance: 40,
  commit: 5,
  crash: 4,
  pass: 5,
  leap: 1,
  connect: 2,
  reset: 1,
  resend: 2,
  forget: 1,
  lose: 1,
} as const
export type CommandName = keyof typeof commandWeights
export const rareCommands: ReadonlySet<CommandName> = new Set(['leap', 'connect', 'reset', 'forget'] as const)

export const pick = <T>(list: readonly T[], choice: number): T => list[choice % list.length] as T

export const keysOf = (audience: string, only: string | undefined): readonly string[] =>
  (only === undefined ? destinations : [only]).flatMap(destination =>
    userNames.map(userId => membershipKey({ audience, userId, destination })),
  )

export function directoryOf(lists: ReadonlyMap<string, ReadonlySet<string>>): AudienceDirectory {
  const list = audienceCases.map(({ name, kind }) => ({ name, kind, destinations: [...(lists.get(name) ?? [])] }))
  return audienceDirectory({
    audiences: { emitPerSecond: 1, list },
    destinations: destinations.map(id => destinationOf({ id })),
  })
}
