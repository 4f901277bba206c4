import { expect, it } from '@jest/globals'
import fc from 'fast-check'
import { RateLimiter } from '../../../../src/core/flow/token-bucket-with-debt.ts'

it('permits at most the rate plus one second and one batch, and keeps its promised waiting times', () => {
  const steps = fc.array(fc.tuple(fc.nat({ max: 5_000 }), fc.integer({ min: 1, max: 2_500 })), { maxLength: 100 })
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 10_000 }), steps, (perSecond, each) => {
      const limiter = new RateLimiter(1_000, -1_000)
      let now = 0
      let through = 0
      for (const [pauseMs, count] of each) {
        now += pauseMs
        const seconds = limiter.secondsToWait(now)
        // The additional millisecond compensates for rounding errors.
        if (seconds > 0) now += seconds * 1_000 + 1
        expect(limiter.secondsToWait(now)).toBe(0)
        expect(through).toBeLessThanOrEqual(perSecond * (now / 1_000 + 1) + 0.001)
        limiter.spend(count, perSecond, now)
        through += count
      }
    }),
  )
})
