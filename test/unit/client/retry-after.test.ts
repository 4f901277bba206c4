import { describe, expect, it } from '@jest/globals'
import { parseRetryAfter } from '../../../packages/client/src/retry-after.ts'

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
