import { describe, expect, it } from '@jest/globals'
import { type Attempt, decide, webhooksToCall } from '../../../../src/core/delivery/decide.ts'
import { type Outcome, refusedOutcomes, retryableOutcomes } from '../../../../src/core/delivery/outcome.ts'
import { epochMs } from '../../../../src/core/units.ts'
import {
  callsOf,
  carriedAfter,
  carriedOf,
  defaultPolicy,
  destinationOf,
  durations,
  later,
  policyOf,
  start,
  summary,
  webhookOf,
} from '../../../support/dispatcher/deliveries.ts'

const attemptOf = (calls: string, number = 1, leftOut = 0): Attempt => ({
  number,
  at: start,
  calls: callsOf(calls),
  leftOut,
  isHeldUpByOthers: false,
})

const decideNow = (calls: string, number = 1, leftOut = 0, carried = carriedOf({ attempt: number - 1 })): string =>
  summary(decide(attemptOf(calls, number, leftOut), carried, defaultPolicy, start))

describe('one webhook', () => {
  it('a success is delivered', () => expect(decideNow('delivered')).toBe('delivered'))
  it.each([...retryableOutcomes])('%s is retried', outcome => {
    expect(decideNow(outcome)).toBe('retried after 10000ms in 10s')
  })
  it.each([...refusedOutcomes])('%s is dead-lettered immediately', outcome => {
    expect(decideNow(outcome)).toBe(`dead_lettered ${outcome}`)
  })
})

describe('five webhooks, of which any one success counts', () => {
  it.each([
    ['http_5xx delivered', 0, 'delivered'],
    ['http_4xx tls_untrusted timeout dns delivered', 0, 'delivered'],
    ['http_4xx delivered', 1, 'delivered'],
    ['http_4xx http_5xx', 0, 'retried after 10000ms in 10s'],
    ['http_4xx', 1, 'retried after 10000ms in 10s'],
    ['http_4xx http_3xx', 0, 'dead_lettered http_4xx'],
    ['blocked_address http_4xx http_3xx tls_untrusted', 0, 'dead_lettered blocked_address'],
    ['', 2, 'deferred lane_full 10s'],
  ])('%s, %i left out: %s', (calls, leftOut, expected) => {
    expect(decideNow(calls, 1, leftOut)).toBe(expected)
  })

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

  it('throws for an attempt without requests on a delivery that no webhook rejected', () => {
    expect(() => decideNow('')).toThrow(TypeError)
  })
})

describe('number and spacing of retries', () => {
  it.each([
    [1, 'retried after 10000ms in 10s'],
    [2, 'retried after 30000ms in 30s'],
    [5, 'retried after 900000ms in 15m'],
    [9, 'retried after 3600000ms in 1h'],
    [10, 'dead_lettered retries_exhausted'],
    [11, 'dead_lettered retries_exhausted'],
  ])('attempt %i: %s', (number, expected) => {
    expect(decideNow('http_5xx', number)).toBe(expected)
  })

  it('no retries with an empty schedule', () => {
    expect(summary(decide(attemptOf('http_5xx'), carriedOf(), policyOf([]), start))).toBe(
      'dead_lettered retries_exhausted',
    )
  })

  it.each([
    ['10s', 'retried after 10000ms in 10s'],
    ['9999ms', 'dead_lettered retry_window_over'],
    ['0s', 'dead_lettered retry_window_over'],
  ])('the retry window: %s left: %s', (left, expected) => {
    expect(decideNow('http_5xx', 1, 0, carriedOf({ deadline: later(left) }))).toBe(expected)
  })

  it.each(['http_5xx', 'http_5xx/0'])('%s of a first attempt after the deadline: the window is over', calls => {
    expect(decideNow(calls, 1, 0, carriedOf({ deadline: epochMs(start - 1) }))).toBe('dead_lettered retry_window_over')
  })
})

describe('Retry-After', () => {
  it.each([
    ['http_429/20', 'retried after 20000ms in 10s'],
    ['http_429/60', 'retried after 60000ms in 1m'],
    ['http_5xx/3', 'retried after 10000ms in 10s'],
    ['http_408/soon', 'retried after 10000ms in 10s'],
    ['http_5xx/-1', 'retried after 10000ms in 10s'],
    ['http_5xx/Sat, 21 Nov 2026 08:02:00 GMT', 'retried after 120000ms in 1m'],
    ['http_5xx/14400', 'retried after 14400000ms in 1h'],
    ['http_5xx/14401', 'dead_lettered retry_after_exceeds_window'],
  ])('%s: %s', (call, expected) => {
    const [outcome, retryAfter] = call.split('/') as [Outcome, string]
    const attempt: Attempt = { ...attemptOf(''), calls: [{ webhook: webhookOf(0), outcome, retryAfter }] }
    expect(summary(decide(attempt, carriedOf(), defaultPolicy, start))).toBe(expected)
  })

  it.each([
    ['the smallest Retry-After counts', 'http_5xx/40 http_429/20 timeout', 'retried after 20000ms in 10s'],
    ['the smallest counts when one exceeds the window', 'http_5xx/99999 http_429/20', 'retried after 20000ms in 10s'],
    ['that of a rejecting webhook does not count', 'http_4xx/15 http_5xx/40', 'retried after 40000ms in 30s'],
    ['that of a rejecting webhook causes no retry', 'http_4xx/15 http_3xx/15', 'dead_lettered http_4xx'],
  ])('of several webhooks: %s', (_, calls, expected) => {
    expect(decideNow(calls)).toBe(expected)
  })

  it('distinguishes a wait beyond the window from an exhausted schedule', () => {
    expect(decideNow('http_5xx/99999', 10)).toBe('dead_lettered retry_after_exceeds_window')
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
