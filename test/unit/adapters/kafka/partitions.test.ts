import { expect, it } from '@jest/globals'
import { type OwnedPartition, Partitions } from '../../../../src/adapters/kafka/partitions.ts'

const owned = (partition: number, paused: boolean): OwnedPartition => ({
  ...{ topic: 'topic', partition, next: 0, paused, isLeaving: false, committed: undefined },
})

it.each([
  { name: 'none is ours', ours: [], isAnyPaused: false },
  { name: 'all are fetched', ours: [owned(0, false), owned(1, false)], isAnyPaused: false },
  { name: 'one of them is paused', ours: [owned(0, false), owned(1, true)], isAnyPaused: true },
])('whether any partition is paused: $name', ({ ours, isAnyPaused }) => {
  const partitions = new Partitions()
  for (const each of ours) partitions.add(each)
  expect(partitions.isAnyPaused).toBe(isAnyPaused)
})
