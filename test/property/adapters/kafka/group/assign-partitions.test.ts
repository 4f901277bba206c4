import { expect, it } from '@jest/globals'
import fc from 'fast-check'
import {
  assignPartitions,
  type Subscriber,
  type SubscriberAssignment,
} from '../../../../../src/adapters/kafka/group/assign-partitions.ts'
import type { TopicPartition } from '../../../../../src/core/ports.ts'

const topics = ['a', 'b', 'c']
const keyOf = ({ topic, partition }: TopicPartition): string => `${topic}${partition}`

/**
 * `claims` has the index of each partition's previous owner: `members` or more if this owner has
 * left the group.
 */
const group = fc.record({
  sizes: fc.tuple(fc.nat(12), fc.nat(12), fc.nat(12)),
  members: fc.integer({ min: 1, max: 7 }),
  claims: fc.array(fc.nat(9), { minLength: 36, maxLength: 36 }),
})

function build({ sizes, members, claims }: { sizes: readonly number[]; members: number; claims: readonly number[] }) {
  const all = topics.flatMap((topic, index) =>
    Array.from({ length: sizes[index] ?? 0 }, (_, partition) => ({ topic, partition })),
  )
  const subscribers: Subscriber[] = Array.from({ length: members }, (_, member) => ({
    memberId: `m${member}`,
    topics,
    owned: all.filter((_, index) => claims[index] === member),
  }))
  return { all, subscribers }
}

const counts = (shares: readonly SubscriberAssignment[]): number[] => shares.map(({ partitions }) => partitions.length)
/** The members as they join next, after they have revoked their excess partitions. */
const next = (shares: readonly SubscriberAssignment[]): Subscriber[] =>
  shares.map(({ memberId, partitions, excess }) => ({
    memberId,
    topics,
    owned: partitions.filter(each => !excess.includes(each)),
  }))

it('assigns every partition to one member, and keeps owned ones', () => {
  fc.assert(
    fc.property(group, input => {
      const { all, subscribers } = build(input)
      const shares = assignPartitions(subscribers, all)
      expect(shares.flatMap(({ partitions }) => partitions.map(keyOf)).sort()).toEqual(all.map(keyOf).sort())
      for (const { memberId, owned } of subscribers) {
        const share = shares.find(each => each.memberId === memberId)
        expect(share?.partitions.map(keyOf)).toEqual(expect.arrayContaining(owned.map(keyOf)))
        // A member must revoke the partitions in `excess` for another member, so it owned them
        // before.
        expect(owned.map(keyOf)).toEqual(expect.arrayContaining(share?.excess.map(keyOf) ?? ['none']))
      }
    }),
  )
})

it('is balanced after one revocation, and then stable', () => {
  fc.assert(
    fc.property(group, input => {
      const { all, subscribers } = build(input)
      const second = assignPartitions(next(assignPartitions(subscribers, all)), all)
      const floor = Math.floor(all.length / subscribers.length)
      for (const count of counts(second)) expect([floor, floor + 1]).toContain(count)
      expect(second.flatMap(({ excess }) => excess)).toEqual([])
      expect(assignPartitions(next(second), all)).toEqual(second)
    }),
  )
})

it('moves as few partitions as possible', () => {
  fc.assert(
    fc.property(group, input => {
      const { all, subscribers } = build(input)
      const floor = Math.floor(all.length / subscribers.length)
      const tooMany = subscribers.reduce((sum, { owned }) => sum + Math.max(0, owned.length - floor), 0)
      const moved = assignPartitions(subscribers, all).flatMap(({ excess }) => excess).length
      expect(moved).toBeLessThanOrEqual(tooMany)
    }),
  )
})

it('ignores the order of its input', () => {
  fc.assert(
    fc.property(group, input => {
      const { all, subscribers } = build(input)
      expect(assignPartitions([...subscribers].reverse(), [...all].reverse())).toEqual(
        assignPartitions(subscribers, all),
      )
    }),
  )
})
