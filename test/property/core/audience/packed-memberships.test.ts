import { expect, it } from '@jest/globals'
import fc from 'fast-check'
import type { Membership } from '../../../../src/core/audience/membership.ts'
import { PackedMemberships } from '../../../../src/core/audience/packed-memberships.ts'
import { syncId } from '../../../../src/core/audience/sync-id.ts'
import type { JsonText } from '../../../../src/core/message/canonical-json-text.ts'
import { epochMs } from '../../../../src/core/time.ts'

const value = fc.oneof(fc.constantFrom('true', 'false', 'null', '"gold"'), fc.json()) as fc.Arbitrary<JsonText>
const large = fc.maxSafeNat()
const plain = { noNullPrototype: true }
const state: fc.Arbitrary<Membership> = fc.record(
  {
    desired: value,
    acknowledged: fc.option(value, { nil: undefined }),
    inFlight: fc.option(fc.record({ value, since: large.map(epochMs), isOvertaken: fc.boolean() }, plain), {
      nil: undefined,
    }),
    version: large,
    syncId: large.map(syncId),
    unconfirmed: fc.option(fc.record({ bitSet: fc.nat(2 ** 32 - 1), until: large.map(epochMs) }, plain), {
      nil: undefined,
    }),
    position: fc.integer({ min: -1, max: Number.MAX_SAFE_INTEGER }),
  },
  plain,
)
/** User ids with any characters, many of them repeated. */
const user = fc.oneof(
  fc.constantFrom('', 'ann', 'bob', 'é', '🙂'),
  fc.nat(40).map(number => `user-${number}`),
  fc.string({ unit: 'grapheme' }),
)
const command = fc.oneof(
  { weight: 3, arbitrary: fc.tuple(fc.constant('set' as const), user, state) },
  { weight: 1, arbitrary: fc.tuple(fc.constant('delete' as const), user, fc.constant(undefined)) },
)

it('is a Map', () => {
  fc.assert(
    fc.property(fc.array(command, { maxLength: 300, size: 'max' }), commands => {
      const packed = new PackedMemberships()
      const map = new Map<string, Membership>()
      for (const [kind, userId, given] of commands) {
        if (kind === 'set') {
          packed.set(userId, given)
          map.set(userId, given)
        } else {
          packed.delete(userId)
          map.delete(userId)
        }
        expect(packed.size).toBe(map.size)
        expect(packed.get(userId)).toStrictEqual(map.get(userId))
      }
      expect([...packed.users()].sort()).toEqual([...map.keys()].sort())
      for (const [userId, expected] of map) expect(packed.get(userId)).toStrictEqual(expected)
    }),
  )
})

it('a walk that replaces states visits every user once', () => {
  fc.assert(
    fc.property(fc.uniqueArray(user, { maxLength: 200, size: 'max' }), fc.infiniteStream(state), (users, states) => {
      const packed = new PackedMemberships()
      const next = (): Membership => states.next().value as Membership
      for (const userId of users) packed.set(userId, next())
      const met = []
      for (const userId of packed.users()) {
        packed.set(userId, next())
        met.push(userId)
      }
      expect(met.sort()).toEqual([...users].sort())
    }),
    { numRuns: 30 },
  )
})
