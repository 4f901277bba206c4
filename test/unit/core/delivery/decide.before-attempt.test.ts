import { describe, expect, it } from '@jest/globals'
import { type Decision, decideBeforeAttempt, defer, mustBeAttempted } from '../../../../src/core/delivery/decide.ts'
import type { DeliveryState } from '../../../../src/core/delivery/delivery-state.ts'
import { carriedOf, defaultPolicy, later, start } from '../../../support/builders.ts'
import { carriedAfter, summary } from '../../../support/dispatcher/decision-notation.ts'

describe('decideBeforeAttempt: whether a delivery is due', () => {
  const now = later('1h')
  const due = (given: Partial<DeliveryState>, paused = false, hasRoom = true): string => {
    const verdict = decideBeforeAttempt(carriedOf(given), paused, defaultPolicy, now, () => hasRoom)
    if (verdict.kind === 'wait') return `wait ${verdict.until - now}ms`
    return verdict.kind === 'attempt' ? verdict.kind : summary(verdict)
  }

  it.each<[string, Partial<DeliveryState>, boolean, string]>([
    ['never attempted', {}, false, 'attempt'],
    ['never attempted, although not-before is in the future', { notBefore: later('70m', now) }, false, 'attempt'],
    ['due in this millisecond', { attempt: 1, notBefore: now }, false, 'attempt'],
    [
      'held up by other destinations, with a Retry-After',
      { outcomes: 'http_429', notBefore: later('70m', now) },
      false,
      'deferred not_before 1h',
    ],
    ['1 ms too early', { attempt: 1, notBefore: later('1ms', now) }, false, 'wait 1ms'],
    ['10 s too early', { attempt: 1, notBefore: later('10s', now) }, false, 'wait 10000ms'],
    ['more than 10 s too early', { attempt: 1, notBefore: later('10001ms', now) }, false, 'deferred not_before 10s'],
    ['much too early', { attempt: 1, notBefore: later('70m', now) }, false, 'deferred not_before 1h'],
    ['paused', {}, true, 'deferred paused 10s'],
    ['paused again', { deferrals: 2 }, true, 'deferred paused 1m'],
    ['paused and 5 s too early', { attempt: 1, notBefore: later('5s', now) }, true, 'deferred paused 10s'],
    ['paused and much too early', { attempt: 1, notBefore: later('70m', now) }, true, 'deferred not_before 1h'],
    ['at the deadline', { deadline: now, attempt: 3 }, false, 'attempt'],
    ['past the deadline, attempted', { deadline: later('59m'), attempt: 1 }, false, 'dead_lettered retry_window_over'],
    ['past the deadline, never attempted', { deadline: later('59m') }, false, 'attempt'],
    ['past the deadline, never attempted, paused', { deadline: later('59m') }, true, 'dead_lettered retry_window_over'],
    [
      'past the deadline, attempted, paused',
      { deadline: later('59m'), attempt: 1 },
      true,
      'dead_lettered retry_window_over',
    ],
  ])('%s', (_, given, paused, expected) => {
    expect(due(given, paused)).toBe(expected)
  })

  it.each<[string, Partial<DeliveryState>, boolean, string]>([
    ['due', { attempt: 1, notBefore: now }, false, 'attempt'],
    ['due within a second', { attempt: 1, notBefore: later('1s', now) }, false, 'wait 1000ms'],
    ['due later', { attempt: 1, notBefore: later('1001ms', now) }, false, 'deferred not_before 10s'],
    ['due later, and paused', { attempt: 1, notBefore: later('5s', now) }, true, 'deferred paused 10s'],
    ['much too early', { attempt: 1, notBefore: later('70m', now) }, false, 'deferred not_before 1h'],
    [
      'due later, when the window ends with the shortest tier',
      { attempt: 1, notBefore: later('5s', now), deadline: later('10s', now) },
      false,
      'deferred not_before 10s',
    ],
    [
      'due later, when the window ends before the shortest tier',
      { attempt: 1, notBefore: later('5s', now), deadline: later('9999ms', now) },
      false,
      'wait 5000ms',
    ],
  ])('in a partition without room: %s', (_, given, paused, expected) => {
    expect(due(given, paused, false)).toBe(expected)
  })

  it('waiting for the due time does not use a longer tier', () => {
    const carried = carriedOf({ attempt: 1, notBefore: later('70m', now), deferrals: 1, reason: 'http_429' })
    const decision = decideBeforeAttempt(carried, false, defaultPolicy, now) as Decision
    expect(carriedAfter(decision)).toEqual({ ...carried, reason: 'not_before' })
  })
})

describe('defer: no attempt is counted', () => {
  const now = later('1h')
  it.each<[string, Partial<DeliveryState>, Parameters<typeof defer>[1], string]>([
    ['at first', {}, 'lane_full', 'deferred lane_full 10s'],
    ['for the fourth time', { deferrals: 3 }, 'breaker_open', 'deferred breaker_open 5m'],
    ['near the deadline', { deferrals: 3, deadline: later('61s', now) }, 'breaker_open', 'deferred breaker_open 1m'],
    ['past the deadline, never attempted', { deadline: later('59m') }, 'lane_full', 'deferred lane_full 10s'],
    [
      'past the deadline, attempted',
      { deadline: later('59m'), attempt: 1 },
      'lane_full',
      'dead_lettered retry_window_over',
    ],
    ['past the deadline, paused', { deadline: later('59m') }, 'paused', 'dead_lettered retry_window_over'],
  ])('%s', (_, given, cause, expected) => {
    expect(summary(defer(carriedOf(given), cause, defaultPolicy, now))).toBe(expected)
  })

  it('during a probe it waits for the shortest tier and counts no deferral', () => {
    const carried = carriedOf({ deferrals: 3 })
    const decision = defer(carried, 'breaker_open', defaultPolicy, now, { isDeferralCounted: false })
    expect(summary(decision)).toBe('deferred breaker_open 10s')
    expect(carriedAfter(decision)).toEqual({ ...carried, reason: 'breaker_open' })
  })

  it('changes only the count of deferrals and the reason', () => {
    const carried = carriedOf({ attempt: 2, deferrals: 1, outcomes: 'http_5xx', notBefore: later('59m') })
    expect(carriedAfter(defer(carried, 'lane_full', defaultPolicy, now))).toEqual({
      ...carried,
      deferrals: 2,
      reason: 'lane_full',
    })
  })
})

describe('whether an attempt must happen before a dead letter', () => {
  it.each([
    ['in its window', {}, false],
    ['at the deadline, never attempted', { deadline: start }, true],
    ['at the deadline, attempted', { deadline: start, attempt: 1 }, false],
  ])('%s', (_, given, must) => {
    expect(mustBeAttempted(carriedOf(given), start)).toBe(must)
  })
})
