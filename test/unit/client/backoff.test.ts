import { describe, expect, it } from '@jest/globals'
import { retryDelayMs } from '../../../packages/client/src/backoff.ts'

describe('retryDelayMs', () => {
  it.each([
    ['first retry, minimum random value', 1, 0, undefined, 250],
    ['first retry, maximum random value', 1, 1, undefined, 500],
    ['doubles with each retry', 4, 1, undefined, 4_000],
    ['7th retry, below the maximum', 7, 1, undefined, 32_000],
    ['8th retry, limited to 60 s', 8, 1, undefined, 60_000],
    ['900th retry, limited to 60 s', 900, 1, undefined, 60_000],
    ['Retry-After longer than the backoff', 1, 0, 30_000, 30_000],
    ['Retry-After shorter than the backoff', 9, 0, 1_000, 30_000],
    ['Retry-After limited to 300 s', 1, 0, 3_600_000, 300_000],
    ['Retry-After: 0', 1, 0, 0, 250],
  ])('%s', (_, retry, random, retryAfterMs, expected) => {
    expect(retryDelayMs(retry, random, retryAfterMs)).toBe(expected)
  })

  it.each([undefined, 1_000, 5_000])('ten retries outlast two minutes with Retry-After %s ms', retryAfterMs => {
    const retries = Array.from({ length: 10 }, (_, index) => index + 1)
    const total = (random: number) => retries.reduce((sum, retry) => sum + retryDelayMs(retry, random, retryAfterMs), 0)
    expect(total(0)).toBeGreaterThan(2 * 60_000)
    expect(total(0.999)).toBeLessThan(4.5 * 60_000)
  })
})
