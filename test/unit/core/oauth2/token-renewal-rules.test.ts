import { describe, expect, it } from '@jest/globals'
import {
  emptyTokenCache,
  planAfterRefusal,
  planToken,
  type Token,
  type TokenCache,
  withAcceptance,
  withResult,
} from '../../../../src/core/oauth2/token-renewal-rules.ts'
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
  const accept = (cache: TokenCache, url: string, seconds: number) => withAcceptance(cache, url, seconds * second)
  const refuse = (cache: TokenCache, url: string, seconds: number, isRepeated = false) =>
    planAfterRefusal(cache, { token: cache.token as Token, url, isRepeated, now: seconds * second })
  const replaced = (cache: TokenCache, url: string, seconds: number): TokenCache => {
    const plan = refuse(cache, url, seconds)
    if (plan.kind !== 'repeat') throw new Error(`the plan is ${plan.kind}`)
    return resultOf(plan.cache, issued(3600), seconds * second)
  }

  it('a new token is requested, and the refused one is no longer used', () => {
    const plan = refuse(first, a, 1)
    expect(plan.kind === 'repeat' && planAt(plan.cache, 1)).toBe('request')
  })

  const accepted = accept(first, a, 1)
  const replacedAfterAcceptance = replaced(accepted, a, 2)
  const neverAccepted = replaced(first, a, 2)
  it.each<[string, TokenCache, string, seconds: number, onFirst: string, onSecond: string]>([
    ['never accepted a token', first, a, 2, 'repeat', 'defer'],
    ['accepted the token', accepted, a, 2, 'repeat', 'defer'],
    ['accepted a token 10 minutes ago', accepted, a, 601, 'repeat', 'defer'],
    ['refused a token 599 s ago and accepted one before', replacedAfterAcceptance, a, 600.999, 'repeat', 'defer'],
    ['refused a token 599 s ago and accepted one 10 minutes ago', replacedAfterAcceptance, a, 601, 'repeat', 'final'],
    ['did not accept the token that another endpoint accepted', accepted, b, 2, 'repeat', 'defer'],
    ['never accepted a token, 4.999 s after a replacement', neverAccepted, a, 6.999, 'defer', 'defer'],
    ['never accepted a token, 5 s after a replacement', neverAccepted, a, 7, 'repeat', 'defer'],
    ['never accepted a token, 2 minutes after the first 401', neverAccepted, a, 122, 'repeat', 'final'],
    [
      'never accepted a token, 59.999 s after a late replacement',
      replaced(neverAccepted, a, 122),
      a,
      181.999,
      'final',
      'final',
    ],
    [
      'never accepted a token, 60 s after a late replacement',
      replaced(neverAccepted, a, 122),
      a,
      182,
      'repeat',
      'final',
    ],
    ['never accepted a token, after a replacement for another one', neverAccepted, b, 3, 'repeat', 'defer'],
    ['accepted a token, 4.999 s after a replacement', replacedAfterAcceptance, a, 6.999, 'defer', 'defer'],
    ['accepted a token, 5 s after a replacement', replacedAfterAcceptance, a, 7, 'repeat', 'defer'],
    ['accepts the replacement, 4.999 s after it', accept(neverAccepted, a, 3), a, 6.999, 'defer', 'defer'],
    ['accepts the replacement, 5 s after it', accept(neverAccepted, a, 3), a, 7, 'repeat', 'defer'],
    ['accepted the replacement 10 minutes ago', accept(neverAccepted, a, 3), a, 603, 'repeat', 'defer'],
  ])('an endpoint that %s', (_name, cache, url, seconds, onFirst, onSecond) => {
    expect(refuse(cache, url, seconds).kind).toBe(onFirst)
    expect(refuse(cache, url, seconds, true).kind).toBe(onSecond)
  })

  it('a token that was already replaced changes nothing: the request is repeated once, and then deferred', () => {
    const cache = replaced(first, a, 1)
    const refusal = { token, url: b, now: 1 * second }
    expect(planAfterRefusal(cache, { ...refusal, isRepeated: false })).toEqual({ kind: 'repeat', cache })
    expect(planAfterRefusal(cache, { ...refusal, isRepeated: true })).toEqual({ kind: 'defer' })
  })

  it('acceptances of the same second are noted once', () => {
    expect(accept(accepted, a, 1.999)).toBe(accepted)
    const refused = replaced(accepted, a, 3)
    expect(refuse(refused, a, 601, true).kind).toBe('final')
    expect(refuse(replaced(accept(accepted, a, 2), a, 3), a, 601, true).kind).toBe('defer')
  })
})
