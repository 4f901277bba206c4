import { describe, expect, it } from '@jest/globals'
import { median, percentile, slope } from '../statistics.ts'

describe('bench statistics', () => {
  it.each([
    ['one', [7], 7],
    ['an odd number of unsorted values', [9, 1, 5], 5],
    ['an even number of values', [4, 1, 2, 9], 3],
  ])('median of %s', (_, values, expected) => expect(median(values)).toBe(expected))

  it.each([
    [0.5, 50],
    [0.99, 99],
    [0.999, 100],
    [1, 100],
    [0, 1],
  ])('%p of 1 to 100 are not above', (share, expected) => {
    const values = Array.from({ length: 100 }, (_, index) => 100 - index)
    expect(percentile(values, share)).toBe(expected)
  })

  it('refuses the median and the percentile of nothing', () => {
    expect(() => median([])).toThrow(RangeError)
    expect(() => percentile([], 0.5)).toThrow(RangeError)
  })

  it('computes the slope of a line, of noise around it, and of a single point', () => {
    expect(slope([0, 1, 2, 3].map(x => ({ x, y: 2 * x + 5 })))).toBeCloseTo(2)
    expect(slope([0, 1, 2, 3].map(x => ({ x, y: 2 * x + (x % 3 === 0 ? 1 : -1) })))).toBeCloseTo(2)
    expect(slope([1, 1].map(x => ({ x, y: x })))).toBe(0)
  })
})
