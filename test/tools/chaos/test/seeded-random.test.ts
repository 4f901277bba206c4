import { describe, expect, it } from '@jest/globals'
import { createChance } from '../seeded-random.ts'

const draws = (seed: number, name: string): number[] => {
  const chance = createChance(seed, name)
  return Array.from({ length: 200 }, () => chance.between(1, 6))
}

describe('seeded chance', () => {
  it('repeats for the same seed and name, and differs for any other', () => {
    expect(draws(1, 'killed')).toEqual(draws(1, 'killed'))
    expect(draws(2, 'killed')).not.toEqual(draws(1, 'killed'))
    expect(draws(1, 'zombie')).not.toEqual(draws(1, 'killed'))
  })

  it('reaches every number of the range and none outside', () => {
    expect(new Set(draws(7, 'dice'))).toEqual(new Set([1, 2, 3, 4, 5, 6]))
  })

  it('picks an item of a list', () => {
    const chance = createChance(1, 'pick')
    const picked = new Set(Array.from({ length: 50 }, () => chance.pick(['a', 'b'])))
    expect(picked).toEqual(new Set(['a', 'b']))
    expect(() => chance.pick([])).toThrow(RangeError)
  })
})
