import { describe, expect, it } from '@jest/globals'
import { type Attempt, decide, forgetRemovedWebhooks, webhooksToCall } from '../../../../src/core/delivery/decide.ts'
import type { Outcome } from '../../../../src/core/delivery/outcomes-reasons-and-classification.ts'
import { epochMs } from '../../../../src/core/time.ts'
import {
  carriedOf,
  defaultPolicy,
  destinationOf,
  durations,
  later,
  policyOf,
  start,
  webhookOf,
} from '../../../support/builders.ts'
import { callsOf, carriedAfter, summary } from '../../../support/dispatcher/decision-notation.ts'

const attemptOf = (calls: string, number = 1, webhooksWithoutPermit = 0): Attempt => ({
  number,
  at: start,
  calls: callsOf(calls),
  webhooksWithoutPermit,
  isHeldUpByOthers: false,
})

const decideNow = (
  calls: string,
  number = 1,
  webhooksWithoutPermit = 0,
  carried = carriedOf({ attempt: number - 1 }),
): string => summary(decide(attemptOf(calls, number, webhooksWithoutPermit), carried, defaultPolicy, start))

describe('five webhooks, of which any one success counts', () => {
  it('retries no permanent outcome', () =>
    expect(decideNow('blocked_address http_4xx http_3xx tls_untrusted')).toBe('dead_lettered blocked_address'))

  it('defers an attempt when all are left out', () => expect(decideNow('', 1, 2)).toBe('deferred lane_full 10s'))

  it('stores rejecting webhooks by hash, in configuration order', () => {
    const first = carriedAfter(decide(attemptOf('http_5xx http_4xx timeout'), carriedOf(), defaultPolicy, start))
    expect(first).toMatchObject({ attempt: 1, outcomes: 'http_5xx,http_4xx,timeout', refusedWebhooks: ['11111111'] })
    const destination = destinationOf({ webhooks: [0, 1, 2].map(index => webhookOf(index)) })
    expect(webhooksToCall(destination.webhooks, first).map(webhook => webhook.label)).toEqual(['0', '2'])

    const second = decide(attemptOf('0:http_3xx 2:reset', 2), first, defaultPolicy, start)
    expect(carriedAfter(second)).toMatchObject({
      outcomes: 'http_3xx,http_4xx,reset',
      refusedWebhooks: ['00000000', '11111111'],
    })

    const third = decide(attemptOf('2:tls_untrusted', 3), carriedAfter(second), defaultPolicy, start)
    expect(summary(third)).toBe('dead_lettered http_3xx')
    expect(carriedAfter(third)).toMatchObject({
      attempt: 3,
      reason: 'http_3xx',
      outcomes: 'http_3xx,http_4xx,tls_untrusted',
      refusedWebhooks: ['00000000', '11111111', '22222222'],
    })
  })

  it('the reason is the rejection of the first webhook in the configuration, even if it was called later', () => {
    const webhooks = [webhookOf(0), webhookOf(1)]
    const first = decide(attemptOf('1:http_4xx', 1, 1), carriedOf(), defaultPolicy, start, webhooks)
    const second = decide(attemptOf('0:http_3xx', 2), carriedAfter(first), defaultPolicy, start, webhooks)
    expect(carriedAfter(second).outcomes).toBe('http_4xx,http_3xx')
    expect(summary(second)).toBe('dead_lettered http_3xx')
  })

  it('a webhook that was left out keeps its last outcome', () => {
    const before = carriedOf({ attempt: 1, outcomes: 'dns,http_4xx,timeout', refusedWebhooks: ['11111111'] })
    const after = decide(attemptOf('0:reset', 2, 1), before, defaultPolicy, start)
    expect(carriedAfter(after)).toMatchObject({ outcomes: 'reset,http_4xx,timeout', refusedWebhooks: ['11111111'] })
  })

  it('a live edit that leaves only rejecting webhooks: dead-lettered without another attempt', () => {
    const before = carriedOf({ attempt: 2, outcomes: 'http_5xx,http_4xx', refusedWebhooks: ['11111111'] })
    const destination = destinationOf({ webhooks: [webhookOf(1)] })
    expect(webhooksToCall(destination.webhooks, before)).toEqual([])
    const decision = decide(attemptOf('', 3), before, defaultPolicy, start)
    expect(summary(decision)).toBe('dead_lettered http_4xx')
    expect(carriedAfter(decision).attempt).toBe(2)
  })

  it('live edits do not make the headers grow without limit', () => {
    let carried = carriedOf({ deadline: later('4h') })
    for (let number = 1; number <= 8; number++) {
      const calls = [0, 1, 2].map(index => ({
        webhook: { ...webhookOf(index), urlHash: `${number}${index}`.padStart(8, '0') },
        outcome: 'http_4xx' as const,
        retryAfter: undefined,
      }))
      carried = carriedAfter(decide({ ...attemptOf('', number, 1), calls }, carried, defaultPolicy, start))
    }
    expect(carried.refusedWebhooks).toHaveLength(10)
    expect(carried.refusedWebhooks.slice(-3)).toEqual(['00000080', '00000081', '00000082'])
    expect(carried.outcomes.split(',')).toHaveLength(10)
  })

  it('live edits remove no rejection of a webhook that the destination has', () => {
    const outcomes = ['http_4xx', 'http_5xx', 'http_3xx', ...Array(6).fill('http_4xx')].join(',')
    const refusedWebhooks = ['0', '2', '3', '4', '5', '6', '7', '8'].map(digit => digit.repeat(8))
    const before = carriedOf({ attempt: 7, outcomes, refusedWebhooks })
    expect(forgetRemovedWebhooks(before, [webhookOf(0), webhookOf(1)])).toBe(before)
    expect(forgetRemovedWebhooks(before, [webhookOf(0), webhookOf(1), webhookOf(2)])).toEqual({
      ...before,
      outcomes: 'http_4xx,http_5xx,http_3xx',
      refusedWebhooks: ['00000000', '22222222'],
    })
  })

  it('throws for an attempt without requests on a delivery that no webhook rejected', () => {
    expect(() => decideNow('')).toThrow(TypeError)
  })
})

describe('the end of the retries', () => {
  it('a first attempt after the deadline, with Retry-After 0: the window is over', () => {
    expect(decideNow('http_5xx/0', 1, 0, carriedOf({ deadline: epochMs(start - 1) }))).toBe(
      'dead_lettered retry_window_over',
    )
  })
})

describe('a 429 counts as an attempt, as every retryable outcome', () => {
  const longSchedule = '10s 30s 1m'
  it.each([
    ['http_429', 1, longSchedule, '0s', 'retried after 10000ms in 10s'],
    ['http_429/40', 1, longSchedule, '0s', 'retried after 40000ms in 30s'],
    ['http_429', 4, longSchedule, '0s', 'dead_lettered retries_exhausted'],
    ['http_429', 1, '', '0s', 'dead_lettered retries_exhausted'],
    ['http_429', 1, longSchedule, '4h', 'dead_lettered retry_window_over'],
    ['http_429/1', 1, longSchedule, '4h', 'dead_lettered retry_after_exceeds_window'],
  ])('%s in attempt %d of the schedule "%s", after %s: %s', (calls, number, schedule, after, expected) => {
    const now = later(after)
    const decision = decide(attemptOf(calls, number), carriedOf(), policyOf(durations(schedule)), now)
    expect(summary(decision, now)).toBe(expected)
  })
})

describe('without an access token', () => {
  it.each([
    ['auth', 1, 0, 'deferred auth 10s'],
    ['auth auth', 10, 0, 'deferred auth 10s'],
    ['http_4xx auth', 10, 0, 'deferred auth 10s'],
    ['auth', 10, 1, 'deferred auth 10s'],
    ['auth http_5xx', 10, 0, 'dead_lettered retries_exhausted'],
    ['auth http_5xx', 1, 0, 'retried after 10000ms in 10s'],
    ['auth delivered', 1, 0, 'delivered'],
  ])('%s in attempt %d with %d webhooks without a permit: %s', (calls, number, webhooksWithoutPermit, expected) => {
    expect(decideNow(calls, number, webhooksWithoutPermit)).toBe(expected)
  })

  it('keeps the attempt number, and remembers a rejection', () => {
    const decision = decide(attemptOf('http_4xx auth', 3), carriedOf({ attempt: 2 }), defaultPolicy, start)
    expect(carriedAfter(decision)).toMatchObject({
      attempt: 2,
      deferrals: 1,
      reason: 'auth',
      outcomes: 'http_4xx,auth',
      refusedWebhooks: ['00000000'],
    })
  })

  it('waits longer each time', () => {
    expect(decideNow('auth', 1, 0, carriedOf({ deferrals: 2 }))).toBe('deferred auth 1m')
  })

  it('ends with the retry window, although there was no other attempt', () => {
    expect(decideNow('auth', 1, 0, carriedOf({ deadline: epochMs(start - 1) }))).toBe('dead_lettered retry_window_over')
  })
})

describe('Retry-After', () => {
  it.each([
    ['http_408/soon', 'retried after 10000ms in 10s'],
    ['http_5xx/-1', 'retried after 10000ms in 10s'],
    ['http_5xx/Sat, 21 Nov 2026 08:02:00 GMT', 'retried after 120000ms in 1m'],
  ])('%s: %s', (call, expected) => {
    const [outcome, retryAfter] = call.split('/') as [Outcome, string]
    const attempt: Attempt = { ...attemptOf(''), calls: [{ webhook: webhookOf(0), outcome, retryAfter }] }
    expect(summary(decide(attempt, carriedOf(), defaultPolicy, start))).toBe(expected)
  })
})

describe('the state of a retry', () => {
  it('changes only the attempt number, the result and the time', () => {
    const before = carriedOf({ attempt: 1, deferrals: 3, round: 2, reason: 'breaker_open' })
    const decision = decide(attemptOf('http_4xx reset http_5xx', 2), before, defaultPolicy, later('90s'))
    expect(carriedAfter(decision)).toEqual({
      ...before,
      attempt: 2,
      notBefore: later('2m'),
      reason: 'reset',
      outcomes: 'http_4xx,reset,http_5xx',
      refusedWebhooks: ['00000000'],
    })
  })

  it('names a missing permit as the cause', () => {
    expect(carriedAfter(decide(attemptOf('http_4xx', 1, 1), carriedOf(), defaultPolicy, start)).reason).toBe(
      'lane_full',
    )
  })
})

it('short schedules have their own tiers', () => {
  const policy = policyOf(durations('200ms 1s'))
  expect(summary(decide(attemptOf('timeout', 1), carriedOf(), policy, start))).toBe('retried after 200ms in 200ms')
  expect(summary(decide(attemptOf('timeout', 2), carriedOf(), policy, start))).toBe('retried after 1000ms in 1s')
})
