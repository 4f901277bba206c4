import { describe, expect, it } from '@jest/globals'
import {
  emptyTokenCache,
  planAfterRefusal,
  planToken,
  type Token,
  type TokenCache,
  withAcceptance,
  withResult,
} from '../../../../src/core/oauth2/token-cache.ts'
import type { TokenResult } from '../../../../src/core/oauth2/token-response.ts'
import { Secret } from '../../../../src/core/secret.ts'
import { durationMs, epochMs } from '../../../../src/core/time.ts'
import { start } from '../../../support/builders.ts'

const second = 1_000
const issued = (seconds: number): TokenResult => ({
  kind: 'issued',
  value: new Secret('t'),
  lifetime: durationMs(seconds * second),
})
const failed = (retryAfter?: string): TokenResult => ({
  kind: 'failed',
  failure: { outcome: 'http_5xx', detail: 'down', retryAfter },
})
const resultOf = (cache: TokenCache, result: TokenResult, now: number): TokenCache =>
  withResult(cache, result, { startedAt: now, now, wallClock: epochMs(start + now) })

const planAt = (cache: TokenCache, seconds: number): string => {
  const plan = planToken(cache, seconds * second)
  return plan.kind === 'use' && plan.renews ? 'use and renew' : plan.kind
}

describe('the lifetime of a token', () => {
  it.each([
    [3600, 'use', 3_539],
    [3600, 'use and renew', 3_540],
    [3600, 'use and renew', 3_589],
    [3600, 'request', 3_590],
    [60, 'use', 47],
    [60, 'use and renew', 48],
    [60, 'use and renew', 53],
    [60, 'request', 54],
    [10, 'use and renew', 8],
    [10, 'request', 9],
  ])('of %d s: %s after %d s', (lifetime, expected, seconds) => {
    expect(planAt(resultOf(emptyTokenCache, issued(lifetime), 0), seconds)).toBe(expected)
  })

  it('begins when the token request started', () => {
    const times = { startedAt: 0, now: 9 * second, wallClock: start }
    expect(planAt(withResult(emptyTokenCache, issued(10), times), 9)).toBe('request')
  })
})

describe('after failed token requests', () => {
  it.each([
    [1, 1],
    [2, 2],
    [3, 4],
    [6, 32],
    [7, 60],
    [50, 60],
  ])('%d in a row: the next one waits %d s', (times, seconds) => {
    let cache = emptyTokenCache
    for (let failures = 0; failures < times; failures++) cache = resultOf(cache, failed(), 0)
    expect(planAt(cache, seconds - 0.001)).toBe('unavailable')
    expect(planAt(cache, seconds)).toBe('request')
  })

  it.each([
    ['3', 3],
    ['0', 1],
    ['86400', 300],
    ['Sat, 21 Nov 2026 08:00:07 GMT', 7],
    ['later', 1],
  ])('follows Retry-After: %s for %d s, at most five minutes', (retryAfter, seconds) => {
    const cache = resultOf(emptyTokenCache, failed(retryAfter), 0)
    expect(planAt(cache, seconds - 0.001)).toBe('unavailable')
    expect(planAt(cache, seconds)).toBe('request')
  })

  it('a valid token is still used, and its renewal waits', () => {
    const cache = resultOf(resultOf(emptyTokenCache, issued(3600), 0), failed(), 3_540 * second)
    expect(planAt(cache, 3_540.5)).toBe('use')
    expect(planAt(cache, 3_541)).toBe('use and renew')
  })

  it('a success starts over', () => {
    const cache = resultOf(
      resultOf(resultOf(resultOf(emptyTokenCache, failed(), 0), failed(), 0), issued(60), 0),
      failed(),
      0,
    )
    expect(cache.failures).toBe(1)
  })
})

describe('after a 401', () => {
  const [a, b] = ['https://a.example.com/', 'https://b.example.com/']
  const first = resultOf(emptyTokenCache, issued(3600), 0)
  const token = first.token as Token
  const refuse = (cache: TokenCache, url: string, seconds: number) =>
    planAfterRefusal(cache, cache.token as Token, url, seconds * second)
  /** The cache after the endpoint refused the token and another token was issued. */
  const replaced = (cache: TokenCache, url: string, seconds: number): TokenCache => {
    const plan = refuse(cache, url, seconds)
    if (plan.kind === 'final') throw new Error('the refusal is final')
    return resultOf(plan.cache, issued(3600), seconds * second)
  }

  it('a new token is requested, and the refused one is no longer used', () => {
    const plan = refuse(first, a, 1)
    expect(plan.kind === 'repeat' && planAt(plan.cache, 1)).toBe('request')
  })

  it('a token that was already replaced changes nothing', () => {
    const cache = replaced(first, a, 1)
    expect(planAfterRefusal(cache, token, b, 1 * second)).toEqual({ kind: 'repeat', cache })
  })

  it('an endpoint that refuses the replacement too gets no other one for a minute', () => {
    const cache = replaced(first, a, 1)
    expect(refuse(cache, a, 60.999).kind).toBe('final')
    expect(refuse(cache, a, 61).kind).toBe('repeat')
  })

  it('another endpoint that refuses the replacement gets one', () => {
    expect(refuse(replaced(first, a, 1), b, 2).kind).toBe('repeat')
  })

  it('an endpoint that accepted the token before gets a new one each time it refuses', () => {
    let cache = first
    for (let seconds = 1; seconds < 10; seconds++) {
      cache = withAcceptance(cache, cache.token as Token, a)
      cache = replaced(cache, a, seconds)
    }
    expect(refuse(cache, a, 10).kind).toBe('final')
  })

  it('an acceptance of an older token changes nothing', () => {
    const cache = replaced(first, a, 1)
    expect(withAcceptance(cache, token, a)).toBe(cache)
  })
})
