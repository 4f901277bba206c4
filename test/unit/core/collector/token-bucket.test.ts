import { describe, expect, it } from '@jest/globals'
import { TokenBucket } from '../../../../src/core/collector/token-bucket.ts'

describe('a bucket for 100 a second', () => {
  it.each<[string, readonly [spent: number, at: number][], number, number]>([
    ['fresh', [], 0, 0],
    ['some of it spent', [[99, 0]], 0, 0],
    ['all of it spent', [[100, 0]], 0, 1],
    ['a little is there again', [[100, 0]], 10, 0],
    ['a batch larger than the bucket gets through, and is paid back', [[1_000, 0]], 0, 10],
    ['half of that is paid back', [[1_000, 0]], 5_000, 5],
    ['all but a moment', [[1_000, 0]], 8_999, 1],
    ['nothing is left and nothing owed', [[1_000, 0]], 9_000, 1],
    ['the first of it again', [[1_000, 0]], 9_010, 0],
    [
      'a quiet source saves one second, not more',
      [
        [0, 60_000],
        [200, 60_000],
      ],
      60_000,
      2,
    ],
    [
      'what is spent in parts adds up',
      [
        [60, 0],
        [60, 100],
        [60, 200],
      ],
      200,
      1,
    ],
  ])('%s', (_, spendings, now, expected) => {
    const bucket = new TokenBucket(100, 0)
    for (const [count, at] of spendings) bucket.spend(count, at)
    expect(bucket.secondsToWait(now)).toBe(expected)
  })
})
