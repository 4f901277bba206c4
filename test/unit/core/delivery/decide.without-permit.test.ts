import { describe, expect, it } from '@jest/globals'
import { decide, deferUnresponsive, isWithoutPermit } from '../../../../src/core/delivery/decide.ts'
import { epochMs } from '../../../../src/core/time.ts'
import { carriedOf, defaultPolicy, later, start } from '../../../support/builders.ts'
import { callsOf, carriedAfter, summary } from '../../../support/dispatcher/decision-notation.ts'

describe('a webhook left out because other destinations hold the permits', () => {
  const heldUp = (calls: string, carried = carriedOf({ attempt: 1, deferrals: 3 })) =>
    decide(
      {
        number: carried.attempt + 1,
        at: start,
        calls: callsOf(calls),
        webhooksWithoutPermit: 1,
        isHeldUpByOthers: true,
      },
      carried,
      defaultPolicy,
      start,
    )
  const over = epochMs(start - 1)

  it.each([
    ['http_5xx delivered', {}, 'delivered'],
    ['http_5xx', { attempt: 1 }, 'deferred lane_full 10s'],
    ['http_5xx', { attempt: 9 }, 'deferred lane_full 10s'],
    ['http_4xx', {}, 'deferred lane_full 10s'],
    ['http_429/99999', {}, 'deferred lane_full 10s'],
    ['', { deferrals: 3 }, 'deferred lane_full 10s'],
    ['http_5xx', { deadline: over }, 'dead_lettered retry_window_over'],
    ['http_5xx', { attempt: 9, deadline: over }, 'dead_lettered retries_exhausted'],
  ])('%s, carried %j: %s', (calls, carried, expected) => {
    expect(summary(heldUp(calls, carriedOf(carried)))).toBe(expected)
  })

  it('uses up neither the schedule nor the tiers, and keeps the outcomes of the other webhooks', () => {
    expect(carriedAfter(heldUp('http_4xx http_429/20'))).toMatchObject({
      ...{ attempt: 1, deferrals: 3, reason: 'lane_full', notBefore: later('20s') },
      ...{ outcomes: 'http_4xx,http_429', refusedWebhooks: ['00000000'] },
    })
  })

  it('a Retry-After beyond the window waits for the end of the window', () => {
    const carried = carriedOf()
    expect(carriedAfter(heldUp('http_429/99999', carried)).notBefore).toBe(carried.deadline)
  })

  it.each([
    ['http_5xx', true, true],
    ['http_5xx', false, false],
    ['http_4xx', true, true],
    ['http_5xx delivered', true, false],
  ])('%s, held up %s: without a permit %s', (calls, isHeldUpByOthers, expected) => {
    expect(isWithoutPermit({ calls: callsOf(calls), isHeldUpByOthers })).toBe(expected)
  })
})

describe('a webhook left out because it is at its limit and does not respond', () => {
  const made = { number: 2, at: start, webhooksWithoutPermit: 1, isHeldUpByOthers: false, isHeldUpByWebhook: true }
  const over = { deadline: epochMs(start - 1) }

  it('uses up the tiers, but not the schedule', () => {
    const carried = carriedOf({ attempt: 1, deferrals: 1 })
    const decision = decide({ ...made, calls: callsOf('http_5xx') }, carried, defaultPolicy, start)
    expect(summary(decision)).toBe('deferred lane_full 30s')
    expect(carriedAfter(decision)).toMatchObject({ attempt: 1, deferrals: 2, outcomes: 'http_5xx' })
  })

  it.each([
    ['http_5xx', true],
    ['http_5xx delivered', false],
  ])('%s: without a permit %s', (calls, expected) => {
    expect(isWithoutPermit({ ...made, calls: callsOf(calls) })).toBe(expected)
  })

  it.each([
    ['waits longer each time', { deferrals: 3 }, 'deferred lane_full 5m'],
    ['after the window, before an attempt counted', over, 'dead_lettered retry_window_over'],
    ['after the window, for a retry', { ...over, attempt: 1 }, 'dead_lettered retry_window_over'],
  ])('and no other webhook is left: %s', (_, given, expected) => {
    expect(summary(deferUnresponsive(carriedOf(given), defaultPolicy, start))).toBe(expected)
  })
})
