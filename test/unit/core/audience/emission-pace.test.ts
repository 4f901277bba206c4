import { describe, expect, it } from '@jest/globals'
import { EmissionPace } from '../../../../src/core/audience/emission-pace.ts'

/** How many turns were taken up to a time, asking whenever the next one was promised. */
function turnsUntil(pace: EmissionPace, from: number, to: number, perSecond: number): number {
  let count = 0
  for (let now = from; now < to; ) {
    const wait = pace.take(now, perSecond)
    if (wait === 0) count++
    else now += wait
  }
  return count
}

describe('the pace of emissions', () => {
  it.each([
    [1, 10],
    [500, 5_000],
    [7.5, 75],
    [100_000, 1_000_000],
  ])('%d a second: as many in ten seconds, and what 100 ms may make up for', (perSecond, expected) => {
    const count = turnsUntil(new EmissionPace(), 0, 10_000, perSecond)
    expect(count).toBeGreaterThanOrEqual(expected)
    expect(count).toBeLessThanOrEqual(expected + perSecond / 10 + 1)
  })

  it('is even: the next turn comes one period after the last', () => {
    const pace = new EmissionPace()
    turnsUntil(pace, 0, 1_000, 100)
    expect(pace.take(1_000, 100)).toBe(0)
    expect(pace.take(1_000, 100)).toBe(10)
    expect(pace.take(1_004, 100)).toBe(6)
    expect(pace.take(1_010, 100)).toBe(0)
  })

  it('after a halt no flood follows', () => {
    const pace = new EmissionPace()
    turnsUntil(pace, 0, 1_000, 100)
    expect(turnsUntil(pace, 60_000, 61_000, 100)).toBeLessThanOrEqual(111)
  })

  it('a new rate holds from the next turn on', () => {
    const pace = new EmissionPace()
    turnsUntil(pace, 0, 1_000, 1)
    const count = turnsUntil(pace, 1_900, 2_900, 100)
    expect(count).toBeGreaterThanOrEqual(90)
    expect(count).toBeLessThanOrEqual(111)
  })
})
