import { readFileSync } from 'node:fs'
import { describe, expect, it } from '@jest/globals'
import avsc from 'avsc'
import {
  type AudienceInput,
  fromInputRecord,
  type InputRecord,
  inputUser,
  toInputRecord,
} from '../../../../src/core/audience/input.ts'
import type { Membership } from '../../../../src/core/audience/membership.ts'
import {
  fromMembershipRecord,
  fromWatermarkRecord,
  type MembershipRecord,
  membershipKey,
  parseMembershipKey,
  toMembershipRecord,
  toWatermarkRecord,
  watermarkKey,
} from '../../../../src/core/audience/membership-and-watermark-records.ts'
import { newSyncId, syncId } from '../../../../src/core/audience/sync-id.ts'
import type { JsonText } from '../../../../src/core/message/canonical-json-text.ts'
import { maxUserIdBytes } from '../../../../src/core/message/message-ids-and-required-identifiers.ts'
import { epochMs } from '../../../../src/core/time.ts'
import { start } from '../../../support/builders.ts'

const typeOf = (name: string): avsc.Type => {
  const file = new URL(`../../../../schemas/hookline.${name}-value.avsc`, import.meta.url)
  return avsc.Type.forSchema(JSON.parse(readFileSync(file, 'utf8')), { wrapUnions: 'never', omitRecordMethods: true })
}
/** Encodes and decodes a record with Avro. */
const throughAvro = <T>(type: avsc.Type, record: T): T => type.fromBuffer(type.toBuffer(record)) as T

describe('inputs', () => {
  const type = typeOf('audience-input')
  const sync = { syncId: newSyncId(start, 'a'), mode: 'full' } as const
  const value = '"gold"' as JsonText
  const inputs: readonly AudienceInput[] = [
    { kind: 'observed', audience: 'Score', userId: 'ann', value, ...sync },
    { kind: 'sync_ended', audience: 'Score', syncId: syncId(7), mode: 'partial' },
    {
      kind: 'outcome',
      audience: 'Score',
      userId: 'ann',
      destination: 'crm',
      version: sync.syncId + 1,
      value,
      result: 'undelivered',
    },
    { kind: 'resend', audience: 'Score', userId: 'ann', destination: 'crm' },
    { kind: 'reset', audience: 'Score', destination: undefined },
    { kind: 'reset', audience: 'Score', destination: 'crm' },
    { kind: 'forgotten', userId: 'ann' },
  ]

  it.each(inputs.map(input => [input.kind, input] as const))('%s survives its record', (_kind, input) => {
    expect(fromInputRecord(throughAvro(type, toInputRecord(input)))).toStrictEqual({ kind: 'input', input })
  })

  it('have the user as key, or no key for a whole audience', () => {
    expect(inputs.map(inputUser)).toEqual(['ann', undefined, 'ann', 'ann', undefined, undefined, 'ann'])
  })

  const whole = toInputRecord(inputs[0] as AudienceInput)
  it.each<[string, Partial<InputRecord>, string]>([
    ['a kind of a newer version', { kind: 'merged' }, "has the unknown kind 'merged'"],
    ['no user', { userId: null }, "'observed' has no valid userId"],
    ['an empty audience', { audience: '' }, "'observed' has no valid audience"],
    ['a value that is not JSON', { value: 'gold' }, "'observed' has no valid value"],
    ['a sync id above the limit', { syncId: 2 ** 52 + 1 }, "'observed' has no valid syncId"],
    ['an unknown mode', { mode: 'half' }, "'observed' has no valid mode"],
    [
      'a user id longer than a membership can have',
      { userId: 'a'.repeat(70_000) },
      "'observed': the user id has 70000 bytes; the limit is 32768 bytes",
    ],
    ['several', { userId: null, syncId: null }, "'observed' has no valid userId, syncId"],
    [
      'an unknown result',
      { ...toInputRecord(inputs[2] as AudienceInput), result: 'lost' },
      "'outcome' has no valid result",
    ],
  ])('%s: undecodable', (_reason, fault, detail) => {
    expect(fromInputRecord({ ...whole, ...fault })).toEqual({ kind: 'undecodable', detail })
  })
})

describe('memberships', () => {
  const type = typeOf('audience-memberships')
  const settled: Membership = {
    desired: 'true' as JsonText,
    acknowledged: 'true' as JsonText,
    inFlight: undefined,
    version: newSyncId(start, 'a') + 1,
    syncId: newSyncId(start, 'a'),
    unconfirmed: undefined,
    position: 4_000_000_000,
  }
  it.each<[string, Membership]>([
    ['settled', settled],
    ['in flight', { ...settled, inFlight: { value: 'null' as JsonText, since: start, isOvertaken: true } }],
    [
      'unknown',
      { ...settled, acknowledged: undefined, unconfirmed: { bitSet: 2 ** 32 - 1, until: epochMs(start + 1) } },
    ],
  ])('%s: survives its record', (_name, state) => {
    const record = throughAvro<MembershipRecord>(type, toMembershipRecord(state))
    expect(fromMembershipRecord(record)).toStrictEqual(state)
    expect(fromWatermarkRecord(record)).toBeUndefined()
  })
  it('the watermark of an audience is unchanged after encoding and decoding', () => {
    const watermark = { cancelledBelow: newSyncId(start, 'a'), closedUpTo: syncId(0), versionFloor: 7, position: -1 }
    const record = throughAvro<MembershipRecord>(type, toWatermarkRecord(watermark))
    expect(fromWatermarkRecord(record)).toStrictEqual(watermark)
    expect(fromMembershipRecord(record)).toBeUndefined()
  })
})

describe('keys of memberships', () => {
  it('distinguish audience, user and destination, for any characters', () => {
    const key = { audience: 'a","b', userId: '["', destination: 'crm' }
    expect(membershipKey(key)).toBe(JSON.stringify(['a","b', '["', 'crm']))
    expect(parseMembershipKey(membershipKey(key))).toEqual(key)
    expect(parseMembershipKey(watermarkKey('Score'))).toEqual({ audience: 'Score' })
  })
  it.each(['', 'x', '{}', '[]', '[1]', '["a","b"]', '["a","b",1]', '["a","b","c","d"]', '["a",null,"c"]'])(
    '%s is not a key of Hookline',
    key => {
      expect(parseMembershipKey(key)).toBeUndefined()
    },
  )
  it('the key of a user id that is longer than an input can have is not a key of Hookline', () => {
    const keyOf = (bytes: number) => membershipKey({ audience: 'a', userId: 'u'.repeat(bytes), destination: 'crm' })
    expect(parseMembershipKey(keyOf(maxUserIdBytes))).toBeDefined()
    expect(parseMembershipKey(keyOf(maxUserIdBytes + 1))).toBeUndefined()
  })
})
