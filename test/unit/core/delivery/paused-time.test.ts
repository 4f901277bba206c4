import { describe, expect, it } from '@jest/globals'
import {
  decideBeforeAttempt,
  decideUnconfigured,
  defer,
  mustBeAttempted,
} from '../../../../src/core/delivery/decide.ts'
import { type DeliveryState, parseDeliveryState, retryRecord } from '../../../../src/core/delivery/delivery-state.ts'
import { endPausedTime, latestDeadline } from '../../../../src/core/delivery/paused-time.ts'
import { carriedOf, defaultPolicy, duration, later, recordOf, start } from '../../../support/builders.ts'
import { carriedAfter, summary } from '../../../support/dispatcher/decision-notation.ts'

const policy = { ...defaultPolicy, pauseKeepsWindow: true }
const now = later('1h')
const waitingSince = (at: DeliveryState['pausedAt'], given: Partial<DeliveryState> = {}): DeliveryState =>
  carriedOf({ reason: 'paused', pausedAt: at, ...given })

describe('the deadline of a delivery that waited for a pause', () => {
  it.each<[string, DeliveryState, Partial<DeliveryState>]>([
    ['never paused', carriedOf(), { deadline: later('4h') }],
    [
      'moves by the time since the deferral',
      waitingSince(later('50m')),
      { deadline: later('250m'), pausedFor: duration('10m') },
    ],
    [
      'adds to the earlier paused time',
      waitingSince(later('50m'), { deadline: later('5h'), pausedFor: duration('1h') }),
      { deadline: later('310m'), pausedFor: duration('70m') },
    ],
    [
      'moves by 48 h at most',
      waitingSince(later('50m'), { deadline: later('3115m'), pausedFor: duration('2875m') }),
      { deadline: later('52h'), pausedFor: duration('48h') },
    ],
    [
      'does not move after 48 h',
      waitingSince(later('50m'), { deadline: later('52h'), pausedFor: duration('48h') }),
      { deadline: later('52h'), pausedFor: duration('48h') },
    ],
    ['does not move back when clocks differ', waitingSince(later('5ms', now)), { deadline: later('4h') }],
  ])('%s', (_, carried, expected) => {
    const read = endPausedTime(carried, now)
    expect(read).toMatchObject(expected)
    expect(read).not.toHaveProperty('pausedAt')
    expect(endPausedTime(read, later('1h', now))).toBe(read)
  })
})

describe('a deferral for a pause', () => {
  it('keeps its time in the record, so that any process can count it', () => {
    const deferred = carriedAfter(defer(carriedOf(), 'paused', policy, now))
    expect(deferred).toMatchObject({ pausedAt: now, deadline: later('4h') })
    const { headers } = retryRecord(recordOf(), deferred)
    expect(headers).toMatchObject({ 'paused-at': String(now), reason: 'paused' })
    expect(parseDeliveryState(headers)).toEqual(deferred)
  })

  it('counts from the time when the delivery is due', () => {
    const early = carriedOf({ attempt: 1, notBefore: later('5s', now) })
    expect(carriedAfter(defer(early, 'paused', policy, now)).pausedAt).toBe(later('5s', now))
  })

  it('keeps the total in the record after the pause', () => {
    const read = endPausedTime(waitingSince(later('50m')), now)
    const { headers } = retryRecord(recordOf({ headers: { 'paused-at': '1', 'paused-for': '2' } }), read)
    expect(headers).toMatchObject({ 'paused-for': '600000' })
    expect(headers).not.toHaveProperty('paused-at')
    expect(parseDeliveryState(headers)).toEqual({ ...read, pausedAt: undefined })
  })

  it.each([
    ['without pauseKeepsWindow', carriedOf(), defaultPolicy],
    ['after 48 h of paused time', carriedOf({ pausedFor: duration('48h') }), policy],
  ])('lets the window continue %s', (_, carried, given) => {
    expect(carriedAfter(defer(carried, 'paused', given, now))).not.toHaveProperty('pausedAt')
  })

  it('uses tiers of five minutes although the window is almost over, because it does not continue', () => {
    const carried = carriedOf({ deferrals: 9, deadline: later('1s', now) })
    expect(summary(defer(carried, 'paused', policy, now))).toBe('deferred paused 5m')
    expect(summary(defer(carried, 'paused', defaultPolicy, now))).toBe('deferred paused 10s')
  })

  it.each([
    ['1h', '5m'],
    ['2h', '15m'],
    ['5h', '30m'],
    ['47h', '1h'],
  ])('uses a longer tier after a longer pause: %s', (pausedFor, tier) => {
    const carried = carriedOf({ deferrals: 9, pausedFor: duration(pausedFor) })
    expect(summary(defer(carried, 'paused', policy, now))).toBe(`deferred paused ${tier}`)
    expect(summary(defer(carried, 'paused', defaultPolicy, now))).toBe('deferred paused 5m')
  })

  it('uses no tier that is longer than the rest of the window and of the 48 h', () => {
    const carried = carriedOf({ deferrals: 9, deadline: later('10s', now), pausedFor: duration('2879m') })
    expect(summary(defer(carried, 'paused', policy, now))).toBe('deferred paused 1m')
  })
})

describe('a paused delivery that is read again', () => {
  const almostOver = { deadline: later('1ms', start), attempt: 1 }

  it.each<[string, boolean, string]>([
    ['is attempted when the destination was resumed', false, 'attempt'],
    ['waits again while the destination is paused', true, 'deferred paused 5m'],
  ])('%s', (_, isPaused, expected) => {
    const due = decideBeforeAttempt(waitingSince(start, almostOver), isPaused, policy, now)
    expect('carried' in due ? summary(due) : due.kind).toBe(expected)
  })

  it('is dead-lettered when its window ended before the pause counted', () => {
    const due = decideBeforeAttempt(carriedOf({ ...almostOver, reason: 'paused' }), true, policy, now)
    expect('carried' in due && summary(due)).toBe('dead_lettered retry_window_over')
  })

  it('is dead-lettered when 48 h of paused time and the window are over', () => {
    const due = decideBeforeAttempt(waitingSince(start), true, policy, later('52h', later('1ms')))
    expect('carried' in due && summary(due)).toBe('dead_lettered retry_window_over')
    expect('carried' in due && due.carried).toMatchObject({ deadline: later('52h'), pausedFor: duration('48h') })
  })

  it('stops counting when it waits for another reason', () => {
    const full = defer(waitingSince(later('50m')), 'lane_full', policy, now)
    expect(carriedAfter(full)).toEqual(
      carriedOf({ deadline: later('250m'), pausedFor: duration('10m'), deferrals: 1, reason: 'lane_full' }),
    )
  })

  it('is deferred once more when the destination was removed', () => {
    expect(summary(decideUnconfigured(waitingSince(start, almostOver), policy, now))).toBe('deferred unconfigured 1m')
  })

  it('need not be attempted before its window is over', () => {
    expect(mustBeAttempted(waitingSince(start, { deadline: later('1ms') }), now)).toBe(false)
  })
})

it('the deadline while the destination stays paused is at most 48 h later', () => {
  expect(latestDeadline(carriedOf())).toBe(later('4h'))
  expect(latestDeadline(waitingSince(start))).toBe(later('52h'))
  expect(latestDeadline(waitingSince(start, { pausedFor: duration('47h') }))).toBe(later('5h'))
})

describe('headers that another process wrote', () => {
  const { headers } = retryRecord(recordOf(), waitingSince(start, { pausedFor: duration('1h') }))

  it.each<[string, Record<string, string>, Partial<DeliveryState>]>([
    ['as written', {}, { pausedAt: start, pausedFor: duration('1h') }],
    // An earlier version of Hookline copies `paused-at` to records with other reasons, so the
    // header is ignored without the reason `paused`.
    ['paused-at of an earlier wait', { reason: 'http_5xx' }, { pausedAt: undefined, pausedFor: duration('1h') }],
    ['malformed', { 'paused-at': 'x', 'paused-for': '-1' }, { pausedAt: undefined, pausedFor: undefined }],
  ])('%s', (_, changed, expected) => {
    const { pausedAt, pausedFor } = parseDeliveryState({ ...headers, ...changed }) ?? {}
    expect({ pausedAt, pausedFor }).toEqual(expected)
  })
})
