import { expect, it } from '@jest/globals'
import fc from 'fast-check'
import { type Claimant, type Share, shareOut } from '../../../../src/adapters/kafka/shares.ts'
import type { TopicPartition } from '../../../../src/core/ports.ts'

const topics = ['a', 'b', 'c']
const keyOf = ({ topic, partition }: TopicPartition): string => `${topic}${partition}`

/** Sizes of the topics, and who claims each partition, if anybody; claims may be of members that have left. */
const group = fc.record({
  sizes: fc.tuple(fc.nat(12), fc.nat(12), fc.nat(12)),
  members: fc.integer({ min: 1, max: 7 }),
  claims: fc.array(fc.nat(9), { minLength: 36, maxLength: 36 }),
})

function build({ sizes, members, claims }: { sizes: readonly number[]; members: number; claims: readonly number[] }) {
  const all = topics.flatMap((topic, index) =>
    Array.from({ length: sizes[index] ?? 0 }, (_, partition) => ({ topic, partition })),
  )
  const claimants: Claimant[] = Array.from({ length: members }, (_, member) => ({
    memberId: `m${member}`,
    topics,
    owned: all.filter((_, index) => claims[index] === member),
  }))
  return { all, claimants }
}

const counts = (shares: readonly Share[]): number[] => shares.map(({ partitions }) => partitions.length)
/** The next join, when everybody has given up what was named. */
const next = (shares: readonly Share[]): Claimant[] =>
  shares.map(({ memberId, partitions, surplus }) => ({
    memberId,
    topics,
    owned: partitions.filter(each => !surplus.includes(each)),
  }))

it('gives every partition to exactly one, and takes nobody what he has', () => {
  fc.assert(
    fc.property(group, input => {
      const { all, claimants } = build(input)
      const shares = shareOut(claimants, all)
      expect(shares.flatMap(({ partitions }) => partitions.map(keyOf)).sort()).toEqual(all.map(keyOf).sort())
      for (const { memberId, owned } of claimants) {
        const share = shares.find(each => each.memberId === memberId)
        expect(share?.partitions.map(keyOf)).toEqual(expect.arrayContaining(owned.map(keyOf)))
        // Only what is its own can be surplus: what it has just been given goes to the right one at once.
        expect(owned.map(keyOf)).toEqual(expect.arrayContaining(share?.surplus.map(keyOf) ?? ['none']))
      }
    }),
  )
})

it('after one giving up all have the same number or one more, and then nothing moves any more', () => {
  fc.assert(
    fc.property(group, input => {
      const { all, claimants } = build(input)
      const second = shareOut(next(shareOut(claimants, all)), all)
      const floor = Math.floor(all.length / claimants.length)
      for (const count of counts(second)) expect([floor, floor + 1]).toContain(count)
      expect(second.flatMap(({ surplus }) => surplus)).toEqual([])
      expect(shareOut(next(second), all)).toEqual(second)
    }),
  )
})

it('moves no more than it must', () => {
  fc.assert(
    fc.property(group, input => {
      const { all, claimants } = build(input)
      const floor = Math.floor(all.length / claimants.length)
      const tooMany = claimants.reduce((sum, { owned }) => sum + Math.max(0, owned.length - floor), 0)
      const moved = shareOut(claimants, all).flatMap(({ surplus }) => surplus).length
      expect(moved).toBeLessThanOrEqual(tooMany)
    }),
  )
})

it('depends on no order', () => {
  fc.assert(
    fc.property(group, input => {
      const { all, claimants } = build(input)
      expect(shareOut([...claimants].reverse(), [...all].reverse())).toEqual(shareOut(claimants, all))
    }),
  )
})
