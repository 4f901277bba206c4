import { expect, it } from '@jest/globals'
import { OwnedPartitions } from '../../../../../src/adapters/kafka/group/owned-partitions.ts'
import { IncrementalRevocation } from '../../../../../src/adapters/kafka/group/revocation.ts'
import type { ConsumerGroup } from '../../../../../src/adapters/kafka/kafkajs/private-api.ts'
import { ManualClock } from '../../../../support/manual-clock.ts'
import { owned, settle } from './single-member-group.ts'

/** A member that owns three partitions. `start` begins the revocation of partitions. */
function setUp() {
  const events: string[] = []
  const clock = new ManualClock()
  const all = new OwnedPartitions()
  for (const partition of [0, 1, 2]) all.add(owned(partition))
  const idle = Promise.withResolvers<void>()
  const state = { commits: true, deadline: 0 }
  const numbers = (some: readonly { partition: number }[]): string => some.map(({ partition }) => partition).join()
  const revocation = new IncrementalRevocation({
    owned: all,
    clock,
    flush: async () => {
      events.push('commit')
      return state.commits
    },
    handlers: {
      onRevoking: (some, deadline) => {
        events.push(`revoking ${numbers(some)}`)
        state.deadline = deadline
        return idle.promise
      },
      onRevoked: some => events.push(`revoked ${numbers(some)}`),
    },
  })
  const group = {
    pause: ([{ partitions }]: [{ partitions: number[] }]) => events.push(`pause ${partitions}`),
  } as unknown as ConsumerGroup
  const start = (...partitions: number[]): void =>
    void revocation.start(
      group,
      partitions.map(partition => ({ topic: 'topic', partition })),
    )
  const left = (): string => numbers(all.all())
  return { events, clock, revocation, start, idle, state, left }
}

it('pauses, drains, commits and revokes before it requests a rejoin', async () => {
  const { events, clock, revocation, start, idle, left } = setUp()
  start(1, 2, 7)
  await clock.advance(7_000, settle)
  expect(events.splice(0)).toEqual(['pause 1,2', 'revoking 1,2'])
  expect([left(), revocation.needsRejoin]).toEqual(['0,1,2', false])
  idle.resolve()
  await settle()
  expect(events).toEqual(['commit', 'revoked 1,2'])
  expect([left(), revocation.needsRejoin, clock.timers]).toEqual(['0', true, 0])
})

it('revokes after 8 s at the latest, also when it cannot commit', async () => {
  const { events, clock, revocation, start, state, left } = setUp()
  state.commits = false
  await clock.advance(3_000)
  start(1)
  await clock.advance(7_999, settle)
  expect([left(), state.deadline]).toEqual(['0,1,2', 11_000])
  await clock.advance(1, settle)
  expect([left(), revocation.needsRejoin]).toEqual(['0,2', true])
  expect(events).toEqual(['pause 1', 'revoking 1', 'commit', 'revoked 1'])
})

it('retries the commit', async () => {
  const { events, clock, start, idle, state, left } = setUp()
  state.commits = false
  start(1)
  idle.resolve()
  await clock.advance(100, settle)
  state.commits = true
  await clock.advance(100, settle)
  expect(events.filter(event => event === 'commit')).toHaveLength(3)
  expect(left()).toBe('0,2')
})

it('revokes nothing when a join cancels it, and leaves no timer behind', async () => {
  const { events, clock, revocation, start, idle, left } = setUp()
  start(1)
  revocation.cancel()
  idle.resolve()
  await clock.advance(10_000, settle)
  expect([left(), revocation.needsRejoin, clock.timers]).toEqual(['0,1,2', false, 0])
  expect(events).toEqual(['pause 1', 'revoking 1'])
})

it('tells the handlers that nothing is revoked when there is no excess', async () => {
  const { events, start } = setUp()
  start()
  await settle()
  expect(events).toEqual(['revoking '])
})
