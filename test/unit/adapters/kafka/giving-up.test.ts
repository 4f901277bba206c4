import { expect, it } from '@jest/globals'
import { GivingUp } from '../../../../src/adapters/kafka/giving-up.ts'
import type { ConsumerGroup } from '../../../../src/adapters/kafka/internals.ts'
import { Partitions } from '../../../../src/adapters/kafka/partitions.ts'
import { ManualClock } from '../../../support/manual-clock.ts'

const settle = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

/** A member with the partitions 0, 1 and 2 of a topic, two of which it is to give up. */
function setUp() {
  const events: string[] = []
  const clock = new ManualClock()
  const owned = new Partitions()
  for (const partition of [0, 1, 2])
    owned.add({ topic: 't', partition, next: 0, paused: false, isLeaving: false, committed: undefined })
  const idle = Promise.withResolvers<void>()
  const state = { commits: true }
  const numbers = (all: readonly { partition: number }[]): string => all.map(({ partition }) => partition).join()
  const giving = new GivingUp({
    owned,
    clock,
    flush: async () => {
      events.push('commit')
      return state.commits
    },
    handlers: {
      onRevoking: all => {
        events.push(`revoking ${numbers(all)}`)
        return idle.promise
      },
      onRevoked: all => events.push(`revoked ${numbers(all)}`),
    },
  })
  const group = {
    pause: ([{ partitions }]: [{ partitions: number[] }]) => events.push(`pause ${partitions}`),
  } as unknown as ConsumerGroup
  const begin = (...partitions: number[]): void =>
    void giving.begin(
      group,
      partitions.map(partition => ({ topic: 't', partition })),
    )
  const left = (): string => numbers(owned.all())
  return { events, clock, giving, begin, idle, state, left }
}

it('stops fetching, waits until it is idle, commits, gives up, and only then has the group joined again', async () => {
  const { events, clock, giving, begin, idle, left } = setUp()
  begin(1, 2, 7)
  await clock.advance(7_000, settle)
  expect(events.splice(0)).toEqual(['pause 1,2', 'revoking 1,2'])
  expect([left(), giving.isRejoinDue]).toEqual(['0,1,2', false])
  idle.resolve()
  await settle()
  expect(events).toEqual(['commit', 'revoked 1,2'])
  expect([left(), giving.isRejoinDue, clock.timers]).toEqual(['0', true, 0])
})

it('gives up after 8 s whatever is under way, also when it cannot commit', async () => {
  const { events, clock, giving, begin, state, left } = setUp()
  state.commits = false
  begin(1)
  await clock.advance(7_999, settle)
  expect(left()).toBe('0,1,2')
  await clock.advance(1, settle)
  expect([left(), giving.isRejoinDue]).toEqual(['0,2', true])
  expect(events).toEqual(['pause 1', 'revoking 1', 'commit', 'revoked 1'])
})

it('tries the commit again', async () => {
  const { events, clock, begin, idle, state, left } = setUp()
  state.commits = false
  begin(1)
  idle.resolve()
  await clock.advance(100, settle)
  state.commits = true
  await clock.advance(100, settle)
  expect(events.filter(event => event === 'commit')).toHaveLength(3)
  expect(left()).toBe('0,2')
})

it('called off by another join it gives up nothing, and nothing is left behind', async () => {
  const { events, clock, giving, begin, idle, left } = setUp()
  begin(1)
  giving.callOff()
  idle.resolve()
  await clock.advance(10_000, settle)
  expect([left(), giving.isRejoinDue, clock.timers]).toEqual(['0,1,2', false, 0])
  expect(events).toEqual(['pause 1', 'revoking 1'])
})

it('with nothing to give up it says so, so that what was to be given up before goes on', async () => {
  const { events, begin } = setUp()
  begin()
  await settle()
  expect(events).toEqual(['revoking '])
})
