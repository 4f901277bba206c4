import { describe, expect, it } from '@jest/globals'
import { deferralTier, tierFor } from '../../../../src/core/delivery/retry-tier.ts'
import { parseRetryAfter } from '../../../../src/core/network/retry-after.ts'
import { refuseSchedule } from '../../../../src/core/settings/check-schedule-and-listeners.ts'
import { durationMs, epochMs, formatDuration } from '../../../../src/core/time.ts'
import { tiersOf } from '../../../../src/core/topics.ts'
import { defaultSchedule, duration, durations } from '../../../support/builders.ts'

const tiers = tiersOf(defaultSchedule)

it('tierFor throws without tiers', () => {
  expect(() => tierFor(duration('1s'), [])).toThrow(RangeError)
})

it('tierFor returns the shortest tier for a wait that is shorter than all tiers', () => {
  expect(tierFor(duration('2s'), tiers)).toBe(duration('10s'))
})

describe('deferralTier: uses longer tiers each time, and does not pass the deadline when a shorter tier exists', () => {
  it.each([
    [0, '4h', '10s'],
    [1, '4h', '30s'],
    [2, '4h', '1m'],
    [3, '4h', '5m'],
    [400, '4h', '5m'],
    [400, '5m', '5m'],
    [400, '4m', '1m'],
    [400, '59s', '30s'],
    [400, '12s', '10s'],
    [400, '3s', '10s'],
    [400, '0ms', '10s'],
  ])('%i deferrals before, %s left: %s', (deferrals, remaining, tier) => {
    expect(formatDuration(deferralTier(deferrals, duration(remaining), tiers))).toBe(tier)
  })

  it('uses longer tiers each time after the end of the window, too', () => {
    expect([0, 1, 9].map(deferrals => deferralTier(deferrals, durationMs(-1), tiers))).toEqual([
      10_000, 30_000, 300_000,
    ])
  })

  it('uses a short tier that only the schedule needs', () => {
    expect(deferralTier(9, duration('3s'), tiersOf(durations('2s')))).toBe(2_000)
  })
})

describe('Retry-After (RFC 9110 10.2.3)', () => {
  const now = epochMs(Date.parse('1994-11-06T08:49:00Z'))
  it.each([
    ['0', 0],
    ['120', 120_000],
    [' 7\t', 7_000],
    ['-5', 0],
    ['99999999999999999999', 2 ** 31 * 1_000],
    ['Sat, 31 Dec 1994 23:59:60 GMT', Date.parse('1995-01-01T00:00:00Z') - now],
    ['Thursday, 01-Jan-43 00:00:00 GMT', Date.parse('2043-01-01T00:00:00Z') - now],
    ['Monday, 01-Jan-46 00:00:00 GMT', 0],
  ])('%s', (value, wait) => {
    expect(parseRetryAfter(value, now)).toBe(wait)
  })

  it.each([
    ['absent', undefined],
    ['empty', ''],
    ['a word', 'soon'],
    ['a fraction', '1.5'],
    ['a unit', '10s'],
    ['hexadecimal', '0x10'],
    ['several', '5, 10'],
    ['another format', '1994-11-06T08:49:37Z'],
    ['another zone', 'Sun, 06 Nov 1994 08:49:37 CET'],
    ['30 February', 'Tue, 30 Feb 1999 08:49:37 GMT'],
    ['day 0', 'Tue, 00 Nov 1994 08:49:37 GMT'],
    ['hour 24', 'Sun, 06 Nov 1994 24:00:00 GMT'],
    ['minute 60', 'Sun, 06 Nov 1994 08:60:00 GMT'],
    ['second 61', 'Sun, 06 Nov 1994 08:49:61 GMT'],
    ['an unknown month', 'Sun, 06 Foo 1994 08:49:37 GMT'],
  ])('rejects %s', (_, value) => {
    expect(parseRetryAfter(value, now)).toBeUndefined()
  })

  it.each([
    ['1999-12-31T23:59:59Z', 'Saturday, 01-Jan-00 00:00:00 GMT', 1_000],
    ['2026-01-01T00:00:00Z', 'Wednesday, 01-Jan-76 00:00:00 GMT', Date.parse('2076-01-01') - Date.parse('2026-01-01')],
    ['2026-01-01T00:00:00Z', 'Saturday, 01-Jan-77 00:00:00 GMT', 0],
  ])('at %s %s is not more than 50 years ahead', (at, value, wait) => {
    expect(parseRetryAfter(value, epochMs(Date.parse(at)))).toBe(wait)
  })
})

describe('refuseSchedule', () => {
  const refusal = (schedule: string, timeout = '5s', window = '4h') =>
    refuseSchedule({ schedule: durations(schedule), timeout: duration(timeout), window: duration(window) })

  it.each([
    ['the default', '10s 30s 1m 5m 15m 30m 1h 1h 1h', '5s', '4h'],
    ['no retries', '', '5s', '5s'],
    ['equal waits', '1s 1s 1s', '1s', '7s'],
    ['exactly the window', '10s 10s', '5s', '35s'],
  ])('accepts %s', (_, schedule, timeout, window) => {
    expect(refusal(schedule, timeout, window)).toBeUndefined()
  })

  it.each([
    ['a decreasing wait', '10s 1m 30s', '5s', '4h', 'schedule must not decrease: 30s comes after 1m'],
    ['a wait of 0', '0s 1m', '5s', '4h', 'schedule must not contain a wait of 0'],
    ['a timeout over 5 s', '', '5001ms', '4h', 'timeout must be more than 0 and at most 5s, not 5001ms'],
    ['no timeout', '', '0s', '4h', 'timeout must be more than 0 and at most 5s, not 0ms'],
    ['a window over 4 h', '', '5s', '14400001ms', 'window must be at most 4h, not 14400001ms'],
    [
      'a schedule longer than the window',
      '10s 10s',
      '5s',
      '34s',
      'schedule does not fit into the retry window of 34s: its waits (20s in total) and 3 attempts of up to 5s each can take 35s; remove or shorten waits, or raise "window"',
    ],
    [
      'a schedule longer than any window',
      '2h 2h',
      '5s',
      '3h',
      'schedule does not fit into the retry window of 3h: its waits (4h in total) and 3 attempts of up to 5s each can take 4h 15s; remove or shorten waits',
    ],
  ])('refuses %s', (_, schedule, timeout, window, text) => {
    expect(refusal(schedule, timeout, window)).toBe(text)
  })
})
