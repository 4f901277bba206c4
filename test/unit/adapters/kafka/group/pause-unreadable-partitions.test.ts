import { expect, it } from '@jest/globals'
import { seekAndPause } from '../../../../../src/adapters/kafka/group/owned-partitions.ts'
import { settle, setUp } from './single-member-group.ts'

const at = { topic: 'topic', partition: 0 }

it('leaves a partition that its broker cannot read out of fetches for one second', async () => {
  const { member, join, it: group, clock, pausedInKafkajs } = setUp()
  await join()
  member.unreadable(group, [{ ...at, code: 'CORRUPT_MESSAGE' }])
  await clock.advance(999, settle)
  expect([...pausedInKafkajs]).toEqual([0])
  await clock.advance(1, settle)
  expect([...pausedInKafkajs]).toEqual([])
})

it('leaves it out of the fetches during a rebalance too', async () => {
  const { member, join, it: group, clock, owned, pausedInKafkajs } = setUp()
  await join()
  member.unreadable(group, [{ ...at, code: 'CORRUPT_MESSAGE' }])
  // Hookline calls `seekAndPause` before each fetch, and at the end of each join.
  seekAndPause(group, owned.all())
  expect([...pausedInKafkajs]).toEqual([0])
  await clock.advance(1_000, settle)
  expect([...pausedInKafkajs]).toEqual([])
})

it.each(['paused', 'isRevoking'] as const)('does not fetch it again after that if it is then: %s', async state => {
  const { member, join, it: group, clock, owned, pausedInKafkajs } = setUp()
  await join()
  member.unreadable(group, [{ ...at, code: 'UNKNOWN' }])
  owned.get(at)![state] = true
  await clock.advance(1_000, settle)
  expect([...pausedInKafkajs]).toEqual([0])
})

it('ignores a partition that this member no longer owns', async () => {
  const { member, join, it: group, pausedInKafkajs } = setUp()
  await join()
  member.unreadable(group, [{ topic: 'topic', partition: 5, code: 'UNKNOWN' }])
  expect([...pausedInKafkajs]).toEqual([])
})

it('logs a partition that stays unreadable immediately, and then once a minute', async () => {
  const { member, join, it: group, state, clock, logger } = setUp()
  state.assigned = [0, 1]
  await join()
  const unreadable = async (partition: number, seconds: number): Promise<void> => {
    for (let second = 0; second < seconds; second++) {
      member.unreadable(group, [{ ...at, partition, code: 'CORRUPT_MESSAGE' }])
      await clock.advance(1_000, settle)
    }
  }
  const logged = () => logger.lines.splice(0).map(({ level, fields }) => [level, fields['partition']])
  await unreadable(0, 60)
  expect(logged()).toEqual([['error', 0]])
  await unreadable(0, 1)
  await unreadable(1, 1)
  expect(logged()).toEqual([
    ['error', 0],
    ['error', 1],
  ])
})
