import { expect, it } from '@jest/globals'
import fc from 'fast-check'
import { deferralTier, tierFor } from '../../../../src/core/delivery/retry-tier.ts'
import { fixedTiers } from '../../../../src/core/fixed-retry-tiers.ts'
import { parseRetryAfter } from '../../../../src/core/network/retry-after.ts'
import { durationMs, epochMs } from '../../../../src/core/time.ts'
import { tiersOf } from '../../../../src/core/topics.ts'

const duration = fc.integer({ min: 1, max: 4 * 3_600_000 }).map(durationMs)
const tiers = fc.array(duration, { maxLength: 9 }).map(tiersOf)

it('the tier is the longest one within the wait, or else the shortest', () => {
  fc.assert(
    fc.property(fc.integer({ min: -1_000, max: 5 * 3_600_000 }).map(durationMs), tiers, (wait, tiers) => {
      const tier = tierFor(wait, tiers)
      const fitting = tiers.filter(candidate => candidate <= wait)
      expect(tier).toBe(fitting.length === 0 ? Math.min(...tiers) : Math.max(...fitting))
    }),
  )
})

it('a deferral uses longer tiers each time, and passes the deadline only in the shortest one', () => {
  fc.assert(
    fc.property(fc.nat(20), duration, tiers, (deferrals, remaining, tiers) => {
      const tier = deferralTier(deferrals, remaining, tiers)
      expect(tier <= remaining || tier === Math.min(...tiers)).toBe(true)
      expect(tier).toBeLessThanOrEqual(fixedTiers[deferrals] ?? 300_000)
      const climbed = fixedTiers[Math.min(deferrals, 3)] as number
      if (remaining >= climbed) expect(tier).toBe(climbed)
    }),
  )
})

it('a deferral for a pause waits longer than usual, but not longer than asked or than the rest of the window', () => {
  fc.assert(
    fc.property(fc.nat(20), duration, duration, tiers, (deferrals, remaining, least, tiers) => {
      const tier = deferralTier(deferrals, remaining, tiers, least)
      const usual = deferralTier(deferrals, remaining, tiers)
      expect(tier).toBeGreaterThanOrEqual(usual)
      expect(tier <= Math.max(usual, least) && (tier <= remaining || tier === usual)).toBe(true)
    }),
  )
})

it('all three forms of an HTTP-date give the same wait', () => {
  const date = fc.date({ min: new Date('2000-01-01'), max: new Date('2099-12-31'), noInvalidDate: true })
  fc.assert(
    fc.property(date, fc.integer({ min: -86_400, max: 86_400 }), (moment, seconds) => {
      const now = Math.floor(moment.getTime() / 1_000) * 1_000
      const fixdate = new Date(now + seconds * 1_000).toUTCString()
      const [, weekday, day, month, year, time] = /^(\w+), (\d+) (\w+) (\d+) ([\d:]+) GMT$/.exec(fixdate) as string[]
      const long = { Mon: 'Mon', Tue: 'Tues', Wed: 'Wednes', Thu: 'Thurs', Fri: 'Fri', Sat: 'Satur', Sun: 'Sun' }
      const rfc850 = `${long[weekday as keyof typeof long]}day, ${day}-${month}-${year?.slice(2)} ${time} GMT`
      const asctime = `${weekday} ${month} ${String(Number(day)).padStart(2)} ${time} ${year}`
      for (const form of [fixdate, rfc850, asctime]) {
        expect(parseRetryAfter(form, epochMs(now))).toBe(Math.max(seconds, 0) * 1_000)
      }
    }),
    { numRuns: 2_000 },
  )
})
