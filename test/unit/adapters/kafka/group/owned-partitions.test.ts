import { expect, it } from '@jest/globals'
import {
  markPositionsKnown,
  OwnedPartitions,
  toPosition,
} from '../../../../../src/adapters/kafka/group/owned-partitions.ts'
import { type Cluster, type ConsumerGroup, internal } from '../../../../../src/adapters/kafka/kafkajs/private-api.ts'
import { owned } from './single-member-group.ts'

it.each([
  { name: 'no partition is owned', all: [], areAllFetched: true },
  { name: 'none is paused', all: [owned(0), owned(1)], areAllFetched: true },
  { name: 'one of them is paused', all: [owned(0), owned(1, { paused: true })], areAllFetched: false },
  { name: 'one of them is unreadable', all: [owned(0, { isUnreadable: true }), owned(1)], areAllFetched: false },
  { name: 'one of them is being revoked', all: [owned(0, { isRevoking: true }), owned(1)], areAllFetched: false },
])('whether all partitions are fetched: $name', ({ all, areAllFetched }) => {
  const partitions = new OwnedPartitions()
  for (const each of all) partitions.add(each)
  expect(partitions.areAllFetched).toBe(areAllFetched)
})

it.each([
  { name: 'above 0 without a commit', next: 9, committed: undefined, isUncommitted: true },
  { name: 'at 0 without a commit: no record can be lost', next: 0, committed: undefined, isUncommitted: undefined },
  { name: 'at a commit', next: 9, committed: { offset: 9, metadata: '' }, isUncommitted: undefined },
])('whether the service learns that a position is not committed: $name', ({ next, committed, isUncommitted }) => {
  expect(toPosition(owned(0, { next, committed })).isUncommitted).toBe(isUncommitted)
})

it('kafkajs asks no broker for the position of a partition without a commit', async () => {
  const asked: string[] = []
  const cluster = Object.assign(Object.create(internal<{ prototype: Cluster }>('cluster').prototype) as Cluster, {
    committedOffsetsByGroup: new Map(),
    fetchTopicsOffset: async () => {
      asked.push('leader')
      return []
    },
  })
  const offsetFetch = async () => {
    asked.push('coordinator')
    return { responses: [{ topic: 'topic', partitions: [{ partition: 1, offset: '-1' }] }] }
  }
  const Manager = internal<new (deps: object) => { resolveOffsets(): Promise<void> }>('consumer/offsetManager')
  const group = { cluster, groupId: 'group' } as unknown as ConsumerGroup
  const manager = new Manager({
    ...{ cluster, groupId: 'group', topicConfigurations: {} },
    coordinator: { isConnected: () => true, offsetFetch },
    memberAssignment: { topic: [1] },
  })
  markPositionsKnown(group, [owned(1)])
  await manager.resolveOffsets()
  expect(asked).toEqual([])
})
