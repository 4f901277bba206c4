import { describe, expect, it } from '@jest/globals'
import { type Bar, type Verdict, verdictOf } from '../bounds.ts'

describe('the verdict on a finding', () => {
  const atMost: Bar = { must: { atMost: 38 }, aim: { atMost: 32 } }
  const atLeast: Bar = { must: { atLeast: 0.9 } }
  it.each<[string, number, Bar, Verdict]>([
    ['on the aim', 32, atMost, 'aim reached'],
    ['between aim and must', 38, atMost, 'holds'],
    ['beyond the must', 38.1, atMost, 'FAILS'],
    ['no number', Number.NaN, atMost, 'FAILS'],
    ['never', Number.POSITIVE_INFINITY, atMost, 'FAILS'],
    ['a ratio with a division by zero', Number.POSITIVE_INFINITY, atLeast, 'FAILS'],
    ['an aim with a division by zero', Number.POSITIVE_INFINITY, { aim: { atLeast: 1 } }, 'short of the aim'],
    ['on a lower limit', 0.9, atLeast, 'holds'],
    ['below a lower limit', 0.89, atLeast, 'FAILS'],
    ['a missed aim without a must', 1.2, { aim: { atMost: 1.1 } }, 'short of the aim'],
    ['a reached aim without a must', 1.1, { aim: { atMost: 1.1 } }, 'aim reached'],
    ['no limit', 5, {}, ''],
  ])('%s', (_, measured, bar, verdict) =>
    expect(verdictOf({ subject: 'x', what: 'p99', measured, ...bar })).toBe(verdict),
  )
})
