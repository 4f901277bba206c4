import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { CircuitBreaker } from '../../../../src/core/flow/circuit-breaker.ts'

const minute = 60_000

describe('CircuitBreaker', () => {
  it('while closed, agrees with a list of the results of the last minute, within one step', () => {
    const end = fc.record({ failed: fc.boolean(), after: fc.nat(20_000) })
    fc.assert(
      fc.property(fc.array(end, { minLength: 1, maxLength: 80 }), ends => {
        const breaker = new CircuitBreaker()
        const seen: { at: number; failed: boolean }[] = []
        let now = 0
        for (const { failed, after } of ends) {
          now += after
          breaker.ended({ failed, wasProbe: false, isConclusive: true }, now)
          seen.push({ at: now, failed })
          const wouldOpen = (since: number): boolean => {
            const recent = seen.filter(({ at }) => at >= since)
            const failures = recent.filter(each => each.failed).length
            return failed && recent.length >= 10 && failures >= recent.length * 0.7
          }
          // The window moves in steps of 5 s, so attempts that ended 55 to 60 s ago may count or
          // not.
          const verdicts = Array.from({ length: 51 }, (_, index) => wouldOpen(now - minute + index * 100))
          if (breaker.isOpen) {
            expect(verdicts).toContain(true)
            return
          }
          expect(verdicts).toContain(false)
        }
      }),
      { numRuns: 1_000 },
    )
  })

  it('never has two probes in progress, and starts nothing for 30 s after it opened or a probe failed', () => {
    const step = fc.record({ after: fc.nat(40_000), failed: fc.boolean() })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 100 }), steps => {
        const breaker = new CircuitBreaker()
        for (let count = 0; count < 10; count++) breaker.ended({ failed: true, wasProbe: false, isConclusive: true }, 0)
        let quietUntil = 30_000
        let now = 0
        let probing = false
        for (const { after, failed } of steps) {
          now += after
          if (!breaker.isOpen) return
          if (probing) {
            expect([breaker.refuses(now), breaker.begins(now)]).toEqual([true, false])
            breaker.ended({ failed, wasProbe: true, isConclusive: true }, now)
            if (failed) quietUntil = now + 30_000
            probing = false
          } else {
            expect(breaker.refuses(now)).toBe(now < quietUntil)
            probing = breaker.begins(now)
            expect(probing).toBe(now >= quietUntil)
          }
        }
      }),
      { numRuns: 1_000 },
    )
  })
})
