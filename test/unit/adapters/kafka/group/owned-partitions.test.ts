import { expect, it } from '@jest/globals'
import { OwnedPartitions } from '../../../../../src/adapters/kafka/group/owned-partitions.ts'
import { owned } from './single-member-group.ts'

it.each([
  { name: 'no partition is owned', all: [], areAllFetched: true },
  { name: 'none is paused', all: [owned(0), owned(1)], areAllFetched: true },
  { name: 'one of them is paused', all: [owned(0), owned(1, { paused: true })], areAllFetched: false },
  { name: 'one of them is being revoked', all: [owned(0, { isRevoking: true }), owned(1)], areAllFetched: false },
])('whether all partitions are fetched: $name', ({ all, areAllFetched }) => {
  const partitions = new OwnedPartitions()
  for (const each of all) partitions.add(each)
  expect(partitions.areAllFetched).toBe(areAllFetched)
})
