import { describe, expect, it } from '@jest/globals'
import { parseQuantity } from '../kubernetes-quantity.ts'

describe('a quantity of Kubernetes', () => {
  it.each([
    ['240', 240],
    ['1500m', 1.5],
    ['61234567n', 0.061234567],
    ['250u', 0.00025],
    ['3k', 3_000],
    ['2M', 2_000_000],
  ])('%s is a number', (text, number) => {
    expect(parseQuantity(text)).toBeCloseTo(number, 9)
  })

  it.each(['', '5x', '64Mi'])('%j is refused', text => {
    expect(() => parseQuantity(text)).toThrow('not a quantity')
  })
})
