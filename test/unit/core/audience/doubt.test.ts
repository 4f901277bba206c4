import { describe, expect, it } from '@jest/globals'
import { aged, type Doubt, doubted, isDoubted, lasting, resolved } from '../../../../src/core/audience/doubt.ts'
import { epochMs } from '../../../../src/core/units.ts'

const at = epochMs(1_000)
const week = 7 * 24 * 3_600_000
const ages = (doubt: Doubt | undefined): number[] => [...Array(40).keys()].filter(age => isDoubted(doubt, age))

describe('changes in doubt', () => {
  it('none', () => {
    expect(ages(undefined)).toEqual([])
    expect(aged(undefined, 1)).toBeUndefined()
    expect(resolved(undefined, 0)).toBeUndefined()
  })
  it('move back as others follow', () => {
    expect(ages(aged(doubted(undefined, at), 3))).toEqual([3])
    expect(ages(doubted(aged(doubted(undefined, at), 3), at))).toEqual([0, 3])
  })
  it('beyond the 31st share one place: any of them may be meant', () => {
    const doubt = aged(doubted(undefined, at), 34)
    expect(ages(doubt)).toEqual([31, 32, 33, 34, 35, 36, 37, 38, 39])
    expect(ages(aged(doubt, 1_000_000))).toEqual(ages(doubt))
  })
  it('are resolved one by one, those that share a place never', () => {
    const doubt = doubted(aged(doubted(undefined, at), 3), at)
    expect(ages(resolved(doubt, 3))).toEqual([0])
    expect(resolved(resolved(doubt, 3), 0)).toBeUndefined()
    const old = aged(doubted(undefined, at), 31)
    expect(resolved(old, 31)).toBe(old)
  })
  it('all 32 at once stay an unsigned number', () => {
    let doubt = doubted(undefined, at)
    for (let count = 0; count < 40; count++) doubt = doubted(aged(doubt, 1), at)
    expect(doubt.versions).toBe(2 ** 32 - 1)
  })
  it('last for 7 days after the last one', () => {
    const doubt = doubted(undefined, at)
    expect(lasting(doubt, epochMs(at + week))).toBe(doubt)
    expect(lasting(doubt, epochMs(at + week + 1))).toBeUndefined()
    expect(doubted(doubt, epochMs(at + 5)).until).toBe(at + 5 + week)
  })
})
