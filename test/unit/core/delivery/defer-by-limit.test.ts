import { expect, it } from '@jest/globals'
import { defer } from '../../../../src/core/delivery/decide.ts'
import {
  deferByLimit,
  deferUntilTurn,
  type LimitReason,
  msToTurn,
} from '../../../../src/core/delivery/defer-by-limit.ts'
import { type DeliveryState, parseDeliveryState, toHeaders } from '../../../../src/core/delivery/delivery-state.ts'
import { durationMs } from '../../../../src/core/time.ts'
import { carriedOf, defaultPolicy, duration, later } from '../../../support/builders.ts'
import { carriedAfter, summary } from '../../../support/dispatcher/decision-notation.ts'

const now = later('1h')
const pause = (seconds: number): LimitReason => ({ kind: 'defer_pause', forMs: seconds * 1_000 })
const withoutPart: LimitReason = { kind: 'defer_without_part' }

it.each<[string, LimitReason, Partial<DeliveryState>, string]>([
  ['a pause of one minute', pause(60), {}, 'deferred not_before 1m'],
  ['a pause of five minutes, for a retry', pause(300), { attempt: 2 }, 'deferred not_before 5m'],
  [
    'a pause that ends before the delivery is due',
    pause(60),
    { notBefore: later('70m', now) },
    'deferred not_before 1h',
  ],
  [
    'a pause that ends after the window, for a retry',
    pause(300),
    { attempt: 1, deadline: later('30s', now) },
    'deferred not_before 30s',
  ],
  ['after the window, never attempted', pause(300), { deadline: later('59m') }, 'deferred not_before 5m'],
  ['after the window, attempted', pause(60), { attempt: 1, deadline: later('59m') }, 'dead_lettered retry_window_over'],
  ['limits of other processes', withoutPart, { notBefore: now }, 'deferred lane_full 10s'],
  ...(
    [
      ['119 s', {}, '3481s', '10s'],
      ['two minutes', {}, '58m', '30s'],
      ['20 minutes', {}, '40m', '5m'],
      ['an hour', {}, '0s', '5m'],
      ['an hour, a retry with ten minutes left', { attempt: 1, deadline: later('10m', now) }, '0s', '10s'],
      ['an hour, a retry with an hour left', { attempt: 1, deadline: later('1h', now) }, '0s', '1m'],
      ['an hour for another reason', { reason: 'paused' }, '0s', '10s'],
    ] as const
  ).map(
    ([name, given, since, tier]) =>
      [
        `limits of other processes for ${name}`,
        withoutPart,
        { reason: 'lane_full', notBefore: later(since), ...given },
        `deferred lane_full ${tier}`,
      ] as [string, LimitReason, Partial<DeliveryState>, string],
  ),
])('%s', (_, reason, given, expected) => {
  expect(summary(deferByLimit(reason, carriedOf(given), defaultPolicy, now))).toBe(expected)
})

it.each([pause(60), withoutPart])('uses up no attempt: %j', reason => {
  const carried = carriedOf({ attempt: 2, outcomes: 'http_429' })
  const decision = deferByLimit(reason, carried, defaultPolicy, now)
  expect(decision).not.toEqual(defer(carried, 'breaker_open', defaultPolicy, now))
  expect(carriedAfter(decision)).toMatchObject({ attempt: 2, outcomes: 'http_429', deferrals: carried.deferrals })
})

it.each<[string, Partial<DeliveryState>, string, number]>([
  ['at its turn', {}, 'deferred lane_full 1m', 90_000],
  ['after the window, before the first attempt', { deadline: later('59m') }, 'deferred lane_full 1m', 90_000],
  [
    'at the time of its retry, if this is later',
    { attempt: 1, reason: 'http_429', notBefore: later('300s', now) },
    'deferred lane_full 5m',
    300_000,
  ],
  [
    'at the end of the window, for a retry',
    { attempt: 1, deadline: later('40s', now) },
    'deferred lane_full 30s',
    40_000,
  ],
])('deferUntilTurn: is due %s', (_, given, expected, waitMs) => {
  const decision = deferUntilTurn(duration('90s'), carriedOf(given), defaultPolicy, now)
  expect(summary(decision)).toBe(expected)
  expect(carriedAfter(decision).notBefore - now).toBe(waitMs)
})

it('deferUntilTurn: keeps a turn that has just passed, so that it is not valid forever', () => {
  const carried = carriedOf({ reason: 'lane_full', notBefore: later('3570s') })
  const decision = deferUntilTurn(durationMs(0), carried, defaultPolicy, now)
  expect(summary(decision)).toBe('deferred lane_full 10s')
  expect(carriedAfter(decision).notBefore).toBe(carried.notBefore)
})

// A pause ends at fractions of a millisecond. Retry records have whole milliseconds, so the end is
// rounded up.
it.each([
  ['a pause', deferByLimit({ kind: 'defer_pause', forMs: 14_999.0364 }, carriedOf({}), defaultPolicy, now)],
  ['a turn', deferUntilTurn(durationMs(14_999.0364), carriedOf({}), defaultPolicy, now)],
])('the retry record of a delivery that waits for %s can be read again, and is not early', (_, decision) => {
  const carried = carriedAfter(decision)
  expect(parseDeliveryState(toHeaders(carried))).toEqual(carried)
  expect(carried.notBefore - now).toBe(15_000)
})

it('deferUntilTurn: dead-letters a retry after its window', () => {
  const carried = carriedOf({ attempt: 1, deadline: later('59m') })
  expect(summary(deferUntilTurn(duration('90s'), carried, defaultPolicy, now))).toBe('dead_lettered retry_window_over')
})

it.each<[string, Partial<DeliveryState>, number | undefined]>([
  ['a turn in 20 s', { reason: 'lane_full', notBefore: later('20s', now) }, 20_000],
  ['a turn that passed half a minute ago', { reason: 'not_before', notBefore: later('3570s') }, 0],
  ['a turn that passed a minute ago', { reason: 'lane_full', notBefore: later('59m') }, undefined],
  ['a delivery from the events topic', { notBefore: now }, undefined],
])('msToTurn: %s', (_, given, expected) => {
  expect(msToTurn(carriedOf(given), now)).toBe(expected)
})
