import { describe, expect, it } from '@jest/globals'
import {
  assignmentChange,
  isContinuous,
  type MemberGeneration,
} from '../../../../../src/adapters/kafka/group/assignment-change.ts'
import type { OwnedPartition } from '../../../../../src/adapters/kafka/group/owned-partitions.ts'
import type { ConsumerGroup } from '../../../../../src/adapters/kafka/kafkajs/private-api.ts'
import { owned } from './single-member-group.ts'

describe('isContinuous', () => {
  const me: MemberGeneration = { memberId: 'a', generation: 7 }
  it.each([
    { name: 'the next generation', last: me, now: { memberId: 'a', generation: 8 }, kept: true },
    { name: 'the same generation again', last: me, now: { memberId: 'a', generation: 7 }, kept: true },
    {
      name: 'a missed generation, in which another member may have been the owner',
      last: me,
      now: { memberId: 'a', generation: 9 },
      kept: false,
    },
    { name: 'a lower generation (a new group)', last: me, now: { memberId: 'a', generation: 1 }, kept: false },
    { name: 'another member id', last: me, now: { memberId: 'b', generation: 8 }, kept: false },
    { name: 'the first join', last: undefined, now: { memberId: 'a', generation: 1 }, kept: false },
    {
      name: 'no member id',
      last: { memberId: null, generation: 7 },
      now: { memberId: null, generation: 8 },
      kept: false,
    },
  ])('$name', ({ last, now, kept }) => {
    expect(isContinuous(last, now)).toBe(kept)
  })
})

/** Partition 1 has the committed offset 40, and partition 2 has `committed`. -1 means none. */
function group(generationId: number, committed = '-1') {
  return {
    groupId: 'group',
    memberId: 'a',
    generationId,
    assigned: () => [{ topic: 'topic', partitions: [1, 2] }],
    coordinator: {
      offsetFetch: async ({ topics }: { topics: { partitions: { partition: number }[] }[] }) => ({
        responses: topics.map(({ partitions }) => ({
          topic: 'topic',
          partitions: partitions.map(({ partition }) => ({
            partition,
            offset: partition === 1 ? '40' : committed,
            metadata: null,
          })),
        })),
      }),
    },
    cluster: { fetchTopicsOffset: async () => [{ topic: 'topic', partitions: [{ partition: 2, offset: '9' }] }] },
  } as unknown as ConsumerGroup
}

describe('assignmentChange', () => {
  const last: MemberGeneration = { memberId: 'a', generation: 7 }
  const of = (partitions: readonly OwnedPartition[]): string[] =>
    partitions.map(({ partition, next, committed }) => `${partition}@${next}, committed ${committed?.offset}`)

  it.each([
    { name: 'first join', generation: 1, last: undefined, had: [], lost: [], gained: ['1@40', '2@9'] },
    { name: 'continuous: only the difference', generation: 8, last, had: [1, 3], lost: ['3'], gained: ['2@9'] },
    { name: 'not continuous: all again', generation: 9, last, had: [1, 3], lost: ['1', '3'], gained: ['1@40', '2@9'] },
  ])('$name', async ({ generation, last, had, lost, gained }) => {
    const change = await assignmentChange(
      group(generation),
      had.map(partition => owned(partition, { next: 55, paused: true })),
      last,
    )
    expect(change.lost.map(({ partition }) => `${partition}`)).toEqual(lost)
    expect(change.gained.map(({ partition, next }) => `${partition}@${next}`)).toEqual(gained)
    expect(change.gained.every(({ paused }) => !paused)).toBe(true)
  })

  it.each([
    { committed: '12', expected: '2@12, committed 12' },
    { committed: '0', expected: '2@0, committed 0' },
    { committed: '-1', expected: '2@9, committed undefined' },
    { committed: '-2', expected: '2@9, committed undefined' },
  ])('a committed $committed', async ({ committed, expected }) => {
    const { gained } = await assignmentChange(group(1, committed), [], undefined)
    expect(of(gained)[1]).toBe(expected)
  })

  const refused = Object.assign(new Error('no leader'), { type: 'LEADER_NOT_AVAILABLE' })
  it.each([
    { name: 'has no leader', fetchTopicsOffset: () => Promise.reject(refused) },
    { name: 'is not in the metadata', fetchTopicsOffset: async () => [] },
  ])('begins at 0 when a partition without a commit $name', async cluster => {
    const { gained } = await assignmentChange({ ...group(1), cluster } as unknown as ConsumerGroup, [], undefined)
    expect(of(gained)).toEqual(['1@40, committed 40', '2@0, committed undefined'])
    expect(gained.map(({ isBeginningUnknown }) => isBeginningUnknown)).toEqual([undefined, true])
  })
})
