import { describe, expect, it } from '@jest/globals'
import {
  confirm,
  isUnconfirmed,
  markUnconfirmed,
  shiftBy,
  type UnconfirmedChanges,
  unlessExpired,
} from '../../../../src/core/audience/unconfirmed-changes-bit-set.ts'
import { epochMs } from '../../../../src/core/time.ts'

const at = epochMs(1_000)
const week = 7 * 24 * 3_600_000
const ages = (doubt: UnconfirmedChanges | undefined): number[] =>
  [...Array(40).keys()].filter(versionsBehind => isUnconfirmed(doubt, versionsBehind))

describe('unconfirmed changes', () => {
  it('are none at first', () => {
    expect(ages(undefined)).toEqual([])
    expect(shiftBy(undefined, 1)).toBeUndefined()
    expect(confirm(undefined, 0)).toBeUndefined()
  })
  it('get older when others follow', () => {
    expect(ages(shiftBy(markUnconfirmed(undefined, at), 3))).toEqual([3])
    expect(ages(markUnconfirmed(shiftBy(markUnconfirmed(undefined, at), 3), at))).toEqual([0, 3])
  })
  it('beyond the 31st share one bit, so each of them counts', () => {
    const doubt = shiftBy(markUnconfirmed(undefined, at), 34)
    expect(ages(doubt)).toEqual([31, 32, 33, 34, 35, 36, 37, 38, 39])
    expect(ages(shiftBy(doubt, 1_000_000))).toEqual(ages(doubt))
  })
  it('are confirmed one by one, except those that share a slot', () => {
    const doubt = markUnconfirmed(shiftBy(markUnconfirmed(undefined, at), 3), at)
    expect(ages(confirm(doubt, 3))).toEqual([0])
    expect(confirm(confirm(doubt, 3), 0)).toBeUndefined()
    const old = shiftBy(markUnconfirmed(undefined, at), 31)
    expect(confirm(old, 31)).toBe(old)
  })
  it('all 32 together stay an unsigned number', () => {
    let doubt = markUnconfirmed(undefined, at)
    for (let count = 0; count < 40; count++) doubt = markUnconfirmed(shiftBy(doubt, 1), at)
    expect(doubt.bitSet).toBe(2 ** 32 - 1)
  })
  it('expire 7 days after the last one', () => {
    const doubt = markUnconfirmed(undefined, at)
    expect(unlessExpired(doubt, epochMs(at + week))).toBe(doubt)
    expect(unlessExpired(doubt, epochMs(at + week + 1))).toBeUndefined()
    expect(markUnconfirmed(doubt, epochMs(at + 5)).until).toBe(at + 5 + week)
  })
})
