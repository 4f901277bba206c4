import { expect, it } from '@jest/globals'
import fc from 'fast-check'
import { type Attempt, decide } from '../../../../src/core/delivery/decide.ts'
import {
  type Outcome,
  refusedOutcomes,
  retryableOutcomes,
} from '../../../../src/core/delivery/outcomes-reasons-and-classification.ts'
import { durationMs, epochMs } from '../../../../src/core/time.ts'
import { carriedOf, defaultPolicy, start, webhookOf } from '../../../support/builders.ts'
import { summary } from '../../../support/dispatcher/decision-notation.ts'

const outcome = fc.constantFrom<Outcome>('delivered', ...retryableOutcomes, ...refusedOutcomes)
const call = fc.record({ outcome, seconds: fc.option(fc.nat(8_000), { freq: 2, nil: undefined }) })
const situation = fc.record({
  calls: fc.array(call, { minLength: 1, maxLength: 5 }),
  webhooksWithoutPermit: fc.constantFrom(0, 0, 0, 1),
  isForOthers: fc.boolean(),
  number: fc.integer({ min: 1, max: 11 }),
  leftMs: fc.integer({ min: -1_000, max: 14_400_000 }),
})
type Situation = typeof situation extends fc.Arbitrary<infer T> ? T : never

/** The rules, in the order in which they apply, for a delivery that no webhook has rejected. */
function oracle({ calls, webhooksWithoutPermit, isForOthers, number, leftMs }: Situation): string {
  const outcomes = calls.map(({ outcome }) => outcome)
  if (outcomes.includes('delivered')) return 'delivered'
  const retryable = calls.filter(({ outcome }) => (retryableOutcomes as readonly string[]).includes(outcome))
  if (webhooksWithoutPermit > 0 && isForOthers && leftMs >= 0) return 'deferred lane_full 10s'
  if (retryable.length > 0 && retryable.every(({ outcome }) => outcome === 'auth') && leftMs >= 0)
    return 'deferred auth 10s'
  if (retryable.length + webhooksWithoutPermit === 0) return `dead_lettered ${outcomes[0]}`
  const asked = Math.min(...retryable.map(({ seconds }) => (seconds ?? Number.POSITIVE_INFINITY) * 1_000))
  const askedMs = Number.isFinite(asked) ? asked : 0
  if (askedMs > leftMs && askedMs > 0) return 'dead_lettered retry_after_exceeds_window'
  if (number > 9) return 'dead_lettered retries_exhausted'
  const waitMs = Math.max([10, 30, 60, 300, 900, 1800, 3600, 3600, 3600][number - 1]! * 1_000, askedMs)
  if (waitMs > leftMs) return 'dead_lettered retry_window_over'
  const tier = Object.entries({ '1h': 3600, '30m': 1800, '15m': 900, '5m': 300, '1m': 60, '30s': 30, '10s': 10 }).find(
    ([, seconds]) => seconds * 1_000 <= waitMs,
  )
  return `retried after ${waitMs}ms in ${tier?.[0]}`
}

it('decide agrees with a plain list of its rules', () => {
  fc.assert(
    fc.property(situation, given => {
      const attempt: Attempt = {
        number: given.number,
        at: start,
        webhooksWithoutPermit: given.webhooksWithoutPermit,
        isHeldUpByOthers: given.webhooksWithoutPermit > 0 && given.isForOthers,
        calls: given.calls.map(({ outcome, seconds }, index) => ({
          webhook: webhookOf(index),
          outcome,
          retryAfter: seconds === undefined ? undefined : String(seconds),
        })),
      }
      const carried = carriedOf({ attempt: given.number - 1, deadline: epochMs(start + durationMs(given.leftMs)) })
      expect(summary(decide(attempt, carried, defaultPolicy, start))).toBe(oracle(given))
    }),
    { numRuns: 10_000 },
  )
})
