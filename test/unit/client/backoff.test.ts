import { describe, expect, it } from '@jest/globals'
import { parseRetryAfter, retryDelayMs } from '../../../packages/client/src/backoff.ts'

describe('retryDelayMs', () => {
  it.each([
    ['first retry, minimum random value', 1, 0, undefined, 250],
    ['first retry, maximum random value', 1, 1, undefined, 500],
    ['doubles with each retry', 4, 1, undefined, 4_000],
    ['7th retry, below the maximum', 7, 1, undefined, 32_000],
    ['8th retry, limited to 60 s', 8, 1, undefined, 60_000],
    ['900th retry, limited to 60 s', 900, 1, undefined, 60_000],
    ['Retry-After longer than the backoff', 1, 0, 30_000, 30_000],
    ['Retry-After shorter than the backoff', 9, 0, 1_000, 1_000],
    ['Retry-After limited to 300 s', 1, 0, 3_600_000, 300_000],
    ['Retry-After: 0 waits for the minimum', 9, 0, 0, 250],
  ])('%s', (_, retry, random, retryAfterMs, expected) => {
    expect(retryDelayMs(retry, random, retryAfterMs)).toBe(expected)
  })
})

describe('parseRetryAfter', () => {
  const now = Date.UTC(2026, 10, 21, 10, 0, 0)
  it.each([
    ['seconds', '120', 120_000],
    ['zero', '0', 0],
    ['white space around', ' 5 ', 5_000],
    ['IMF-fixdate', 'Sat, 21 Nov 2026 10:00:30 GMT', 30_000],
    ['RFC 850', 'Saturday, 21-Nov-26 10:00:30 GMT', 30_000],
    ['asctime in GMT', 'Sat Nov 21 10:00:30 2026', 30_000],
    ['a date in the past', 'Sat, 21 Nov 2026 09:00:00 GMT', 0],
    ['absent', null, undefined],
    ['empty', '', undefined],
    ['negative', '-1', undefined],
    ['a fraction', '1.5', undefined],
    ['a word', 'soon', undefined],
    ['a weekday without a date', 'Sunday', undefined],
    ['ISO 8601, which is not an HTTP date', '2026-11-21T10:00:30Z', undefined],
  ])('%s', (_, value, expected) => {
    expect(parseRetryAfter(value, now)).toBe(expected)
  })
})
