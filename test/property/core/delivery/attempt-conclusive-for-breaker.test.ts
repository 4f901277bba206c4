import { expect, it } from '@jest/globals'
import fc from 'fast-check'
import { isConclusive } from '../../../../src/core/delivery/attempt-conclusive-for-breaker.ts'
import {
  isRetryable,
  type Outcome,
  outcomes,
} from '../../../../src/core/delivery/outcomes-reasons-and-classification.ts'
import { CircuitBreaker } from '../../../../src/core/flow/circuit-breaker.ts'
import { webhookOf } from '../../../support/builders.ts'

const withProxyFailure = fc
  .array(fc.constantFrom(...outcomes.filter(outcome => outcome !== 'delivered')), { maxLength: 4 })
  .map((others): readonly Outcome[] => [...others, 'proxy'])

it('failures of the proxy never open a circuit breaker, in any number', () => {
  fc.assert(
    fc.property(fc.array(withProxyFailure, { minLength: 20, maxLength: 60 }), attempts => {
      const breaker = new CircuitBreaker()
      for (const [second, found] of attempts.entries()) {
        const calls = found.map(outcome => ({ webhook: webhookOf(0), outcome, retryAfter: undefined }))
        const failed = found.some(isRetryable)
        const ended = { failed, wasProbe: false, isConclusive: isConclusive({ calls, isHeldUpByOthers: false }) }
        breaker.ended(ended, second * 1_000)
        expect(breaker.isOpen).toBe(false)
      }
    }),
  )
})
