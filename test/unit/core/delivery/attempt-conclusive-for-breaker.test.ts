import { describe, expect, it } from '@jest/globals'
import { isConclusive } from '../../../../src/core/delivery/attempt-conclusive-for-breaker.ts'
import type { Outcome } from '../../../../src/core/delivery/outcomes-reasons-and-classification.ts'
import { webhookOf } from '../../../support/builders.ts'

describe('whether the circuit breaker counts an attempt', () => {
  it.each<[Outcome[], boolean, boolean]>([
    [['delivered'], false, true],
    [['http_5xx'], false, true],
    [['http_4xx'], false, true],
    [[], false, false],
    [['proxy'], false, false],
    [['proxy', 'http_5xx'], false, false],
    [['proxy', 'http_4xx'], false, false],
    [['proxy', 'delivered'], false, true],
    [['http_5xx'], true, false],
    [['delivered'], true, true],
    [['connect'], false, true],
    [['auth'], false, false],
    [['auth', 'http_5xx'], false, false],
    [['http_429'], false, false],
    [['http_429', 'http_4xx'], false, false],
    [['http_429', 'http_5xx'], false, true],
    [['http_429', 'delivered'], false, true],
  ])('%j, held up by others %p: %p', (outcomes, isHeldUpByOthers, expected) => {
    const calls = outcomes.map(outcome => ({ webhook: webhookOf(0), outcome, retryAfter: undefined }))
    expect(isConclusive({ calls, isHeldUpByOthers })).toBe(expected)
  })
})
