import { describe, expect, it } from '@jest/globals'
import type { Membership } from '../../../../src/core/audience/membership.ts'
import { PackedMemberships } from '../../../../src/core/audience/packed-memberships.ts'
import { syncId } from '../../../../src/core/audience/sync-id.ts'
import type { JsonText } from '../../../../src/core/message/canonical-json-text.ts'
import { partitionFor } from '../../../../src/core/message/partition-for-key.ts'

const member: Membership = {
  desired: 'true' as JsonText,
  acknowledged: 'true' as JsonText,
  inFlight: undefined,
  version: 1_838_333_952_000_001,
  syncId: syncId(1_838_333_952_000_000),
  unconfirmed: undefined,
  position: 12_345_678,
}
const uuid = (number: number): string => `6f9619ff-8b86-d011-b42d-${String(number).padStart(12, '0')}`

describe('memory', () => {
  it('2 million members with UUIDs fit in half of 512 MB, for any table size', () => {
    const packed = new PackedMemberships()
    let worst = 0
    for (let count = 1; count <= 60_000; count++) {
      packed.set(uuid(count), member)
      if (count > 1_000) worst = Math.max(worst, packed.bytes / count)
    }
    expect(worst).toBeLessThan(132)
    expect(worst * 2_000_000).toBeLessThan(0.5 * 512 * 1_048_576)
  })

  it.each([6, 8, 20, 36])(
    'a table with ids of %i characters takes at most 1.5 times the memory of its content',
    length => {
      const packed = new PackedMemberships()
      let worst = 0
      for (let count = 1; count <= 30_000; count++) {
        packed.set(String(count).padStart(length, '0'), member)
        if (count > 1_000) worst = Math.max(worst, packed.bytes / count)
      }
      const [ofEntry, ofSlots] = [6 + length + 34, 14]
      expect(worst).toBeLessThan(1.5 * ofEntry + ofSlots)
    },
  )

  it('releases all memory after inserts and removals', () => {
    const packed = new PackedMemberships()
    const text = JSON.stringify('x'.repeat(500)) as JsonText
    for (let round = 0; round < 200; round++) {
      for (let user = 0; user < 20; user++)
        packed.set(uuid(user), { ...member, desired: round % 2 === 0 ? text : member.desired })
      for (let user = 0; user < 20; user++) packed.delete(uuid(user))
    }
    expect(packed.size).toBe(0)
    expect(packed.bytes).toBeLessThan(40_000)
  })
})

it('finds the users of one partition in a few probes, although their hashes have the same remainder', () => {
  const packed = new PackedMemberships()
  const users = Array.from({ length: 200_000 }, (_, number) => uuid(number)).filter(
    userId => partitionFor(Buffer.from(userId), 12) === 5,
  )
  for (const userId of users) packed.set(userId, member)
  expect(packed.longestSearch()).toBeLessThan(60)
})

it('accepts a user id of up to 65,535 bytes', () => {
  const packed = new PackedMemberships()
  packed.set('é'.repeat(32_767), member)
  expect(packed.get('é'.repeat(32_767))).toEqual(member)
  expect(() => packed.set('é'.repeat(32_768), member)).toThrow(RangeError)
})

it('throws when a member is added or removed during a walk', () => {
  const packed = new PackedMemberships()
  packed.set('ann', member)
  packed.set('bob', member)
  expect(() => {
    for (const userId of packed.users()) packed.delete(userId)
  }).toThrow('added or deleted during an iteration')
})
