import { expect, it } from '@jest/globals'
import fc from 'fast-check'
import {
  emptyTokenCache,
  planAfterRefusal,
  planToken,
  type TokenCache,
  withAcceptance,
  withResult,
} from '../../../../src/core/oauth2/token-renewal-rules.ts'
import type { TokenResult } from '../../../../src/core/oauth2/token-response.ts'
import { Secret } from '../../../../src/core/secret.ts'
import { durationMs, epochMs } from '../../../../src/core/time.ts'

const urls = ['https://a/', 'https://b/']
const step = fc.record({
  afterMs: fc.oneof(fc.nat(500), fc.nat(120_000)),
  event: fc.constantFrom('issued', 'failed', 'accepted', 'refused'),
  url: fc.constantFrom(...urls),
  lifetimeMs: fc.integer({ min: 10_000, max: 600_000 }),
  tookMs: fc.nat(5_000),
})

it('a token is never used after its lifetime, and failed token requests are at least 1 s apart', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), steps => {
      let cache: TokenCache = emptyTokenCache
      let [now, endsAt, failedAt] = [0, 0, Number.NEGATIVE_INFINITY]
      for (const { afterMs, event, url, lifetimeMs, tookMs } of steps) {
        now += afterMs
        const plan = planToken(cache, now)
        if (plan.kind === 'use') expect(now).toBeLessThan(endsAt)
        const mayRequest = plan.kind === 'request' || (plan.kind === 'use' && plan.renews)
        if (mayRequest) expect(now - failedAt).toBeGreaterThanOrEqual(1_000)
        if (mayRequest && (event === 'issued' || event === 'failed')) {
          const startedAt = now
          now += tookMs
          const result: TokenResult =
            event === 'issued'
              ? { kind: 'issued', value: new Secret('t'), lifetime: durationMs(lifetimeMs) }
              : { kind: 'failed', failure: { outcome: 'timeout', detail: '', retryAfter: undefined } }
          cache = withResult(cache, result, { startedAt, now, wallClock: epochMs(now) })
          if (event === 'issued') [endsAt, failedAt] = [startedAt + lifetimeMs, Number.NEGATIVE_INFINITY]
          else failedAt = now
        }
        if (plan.kind === 'use' && event === 'accepted') cache = withAcceptance(cache, url, now)
        if (plan.kind === 'use' && event === 'refused') {
          const after = planAfterRefusal(cache, { token: plan.token, url, isRepeated: false, now })
          if (after.kind === 'repeat') cache = after.cache
        }
      }
    }),
    { numRuns: 2_000 },
  )
})

it.each([
  [
    'that refuses every token causes one replacement per 5 s for 2 minutes, then per minute',
    60_000,
    fc.constant(false),
  ],
  ['that refuses some requests causes at most one replacement per 5 s', 5_000, fc.boolean()],
])('an endpoint %s', (_name, everyMs, accepts) => {
  fc.assert(
    fc.property(fc.array(fc.record({ wait: fc.nat(20_000), accepts }), { maxLength: 200 }), steps => {
      let cache: TokenCache = emptyTokenCache
      let [now, requests] = [0, 0]
      const request = (): void => {
        requests++
        const result: TokenResult = { kind: 'issued', value: new Secret('t'), lifetime: durationMs(86_400_000) }
        cache = withResult(cache, result, { startedAt: now, now, wallClock: epochMs(now) })
      }
      for (const { wait, accepts: isAccepted } of steps) {
        now += wait
        if (planToken(cache, now).kind === 'request') request()
        const plan = planToken(cache, now)
        if (plan.kind !== 'use') throw new Error('there is no token')
        if (isAccepted) {
          cache = withAcceptance(cache, 'https://a/', now)
          continue
        }
        const after = planAfterRefusal(cache, { token: plan.token, url: 'https://a/', isRepeated: false, now })
        if (after.kind !== 'repeat') continue
        cache = after.cache
        request()
      }
      expect(requests).toBeLessThanOrEqual(2 + Math.min(now, 125_000) / 5_000 + now / everyMs)
    }),
  )
})
