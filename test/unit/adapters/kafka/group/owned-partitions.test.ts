import { expect, it } from '@jest/globals'
import { type OwnedPartition, OwnedPartitions } from '../../../../../src/adapters/kafka/group/owned-partitions.ts'

const owned = (partition: number, held: Partial<OwnedPartition> = {}): OwnedPartition => ({
  ...{ topic: 'topic', partition, next: 0, paused: false, isRevoking: false, committed: undefined, ...held },
})

it.each([
  { name: 'none is ours', ours: [], areAllFetched: true },
  { name: 'nothing holds one', ours: [owned(0), owned(1)], areAllFetched: true },
  { name: 'one of them is paused', ours: [owned(0), owned(1, { paused: true })], areAllFetched: false },
  { name: 'one of them is to be given up', ours: [owned(0, { isRevoking: true }), owned(1)], areAllFetched: false },
])('whether all partitions are fetched: $name', ({ ours, areAllFetched }) => {
  const partitions = new OwnedPartitions()
  for (const each of ours) partitions.add(each)
  expect(partitions.areAllFetched).toBe(areAllFetched)
})
