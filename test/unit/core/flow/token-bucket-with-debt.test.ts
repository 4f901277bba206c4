import { describe, expect, it } from '@jest/globals'
import { RateLimiter } from '../../../../src/core/flow/token-bucket-with-debt.ts'

describe('100 per second, with a burst of one second', () => {
  /** `60@100` means that 60 permits are spent at 100 ms. */
  it.each<[string, string, number, number]>([
    ['fresh', '', 0, 0],
    ['a part is spent', '99@0', 0, 0],
    ['all is spent', '100@0', 0, 1],
    ['one is free again', '100@0', 10, 0],
    ['a batch larger than the burst is accepted, and must be regained', '1000@0', 0, 10],
    ['half of the batch is regained', '1000@0', 5_000, 5],
    ['1 ms before it is regained', '1000@0', 8_999, 1],
    ['all is regained, and none is free', '1000@0', 9_000, 1],
    ['the first one is free again', '1000@0', 9_010, 0],
    ['a quiet source saves one second, not more', '0@60000 200@60000', 60_000, 2],
    ['several batches add up', '60@0 60@100 60@200', 200, 1],
  ])('%s', (_, spendings, now, expected) => {
    const limiter = new RateLimiter(1_000, -1_000)
    for (const spending of spendings.split(' ').filter(Boolean)) {
      const [count = 0, at = 0] = spending.split('@').map(Number)
      limiter.spend(count, 100, at)
    }
    expect(limiter.secondsToWait(now)).toBe(expected)
  })
})

/** Returns the number of permits from `from` to `to`, each taken when the limiter allows it. */
function turnsUntil(limiter: RateLimiter, from: number, to: number, perSecond: number): number {
  let count = 0
  for (let now = from; now < to; ) {
    const wait = limiter.msToWait(now)
    if (wait > 0) now += wait
    else {
      limiter.spend(1, perSecond, now)
      count++
    }
  }
  return count
}

const paced = (): RateLimiter => new RateLimiter(100, -100)

describe('permits with a burst of 100 ms', () => {
  it.each([
    [1, 10],
    [500, 5_000],
    [7.5, 75],
    [100_000, 1_000_000],
  ])('%d per second: ten times as many in ten seconds, and at most those of 100 ms more', (perSecond, expected) => {
    const count = turnsUntil(paced(), 0, 10_000, perSecond)
    expect(count).toBeGreaterThanOrEqual(expected)
    expect(count).toBeLessThanOrEqual(expected + perSecond / 10 + 1)
  })

  it('is even: the next permit comes one period after the last', () => {
    const limiter = paced()
    turnsUntil(limiter, 0, 1_000, 100)
    expect(limiter.msToWait(1_000)).toBe(0)
    limiter.spend(1, 100, 1_000)
    expect(limiter.msToWait(1_000)).toBe(10)
    expect(limiter.msToWait(1_004)).toBe(6)
    expect(limiter.msToWait(1_010)).toBe(0)
  })

  it('no burst follows a pause', () => {
    const limiter = paced()
    turnsUntil(limiter, 0, 1_000, 100)
    expect(turnsUntil(limiter, 60_000, 61_000, 100)).toBeLessThanOrEqual(111)
  })

  it('a new rate applies from the next permit on', () => {
    const limiter = paced()
    turnsUntil(limiter, 0, 1_000, 1)
    const count = turnsUntil(limiter, 1_900, 2_900, 100)
    expect(count).toBeGreaterThanOrEqual(90)
    expect(count).toBeLessThanOrEqual(111)
  })
})

it('returns the wait in whole seconds until a number can be spent', () => {
  const limiter = new RateLimiter(10_000, -10_000)
  limiter.spend(10, 1, 0)
  expect(limiter.secondsToWaitFor(1, 1, 0)).toBe(1)
  expect(limiter.secondsToWaitFor(3, 1, 500)).toBe(3)
  expect(limiter.secondsToWaitFor(3, 1, 3_000)).toBe(0)
})
