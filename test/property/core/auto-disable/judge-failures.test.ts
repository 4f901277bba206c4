import { expect, it } from '@jest/globals'
import fc from 'fast-check'
import { FailureCounter } from '../../../../src/core/auto-disable/failure-counter.ts'
import {
  type DisableRule,
  type FailureState,
  judgeFailures,
  minAttempts,
  withoutFailures,
} from '../../../../src/core/auto-disable/judge-failures.ts'
import { durationMs, epochMs } from '../../../../src/core/time.ts'

const disableAfter = 100
const rule: DisableRule = {
  ...{ urls: 'aaaaaaaa', version: 1, webhooks: ['a'], onGone: 'notify' },
  disableAfter: durationMs(disableAfter),
}

type Step =
  | { readonly kind: 'failed' | 'delivered' | 'turn' | 'killed'; readonly process: number }
  | { readonly kind: 'enabled' }

class Installation {
  state: FailureState | undefined
  #counters = Array.from({ length: 3 }, () => new FailureCounter())
  /** Times of the failures since the last success of any process. */
  #failures: number[] = []
  #lastSuccess = Number.NEGATIVE_INFINITY

  apply(step: Step, now: number): void {
    switch (step.kind) {
      case 'enabled':
        this.state &&= withoutFailures(this.state)
        return
      case 'failed':
        this.#counters[step.process]!.failed(epochMs(now))
        this.#failures.push(now)
        return
      case 'delivered':
        this.#counters[step.process]!.reset(epochMs(now))
        this.#failures = []
        this.#lastSuccess = now
        // A success is applied to the failure state immediately, a failure only at the next `turn`.
        return this.#write(step.process, now)
      case 'turn':
        return this.#write(step.process, now)
      case 'killed':
        this.#counters[step.process] = new FailureCounter()
    }
  }

  #write(process: number, now: number): void {
    const wasDisabled = this.state?.disabled !== undefined
    const seen = this.#counters[process]!.take()
    const verdict = judgeFailures(this.state, seen, rule, epochMs(now))
    if (verdict.kind === 'wait') this.#counters[process]!.restore(seen)
    if (!('state' in verdict)) return
    this.state = verdict.state
    if (verdict.kind !== 'disable' || wasDisabled) return
    expect(this.#lastSuccess).toBeLessThan(now - disableAfter)
    expect(this.#failures.filter(at => at >= verdict.disabled.failingSince).length).toBeGreaterThanOrEqual(minAttempts)
    expect(now - verdict.disabled.failingSince).toBeGreaterThanOrEqual(disableAfter)
  }
}

const process = fc.nat({ max: 2 })
const step = fc.oneof(
  { weight: 60, arbitrary: fc.record({ kind: fc.constant('failed' as const), process }) },
  { weight: 25, arbitrary: fc.record({ kind: fc.constant('turn' as const), process }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delivered' as const), process }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('killed' as const), process }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'enabled' as const }) },
)
const steps = fc.array(fc.tuple(step, fc.integer({ min: 1, max: 5 })), { maxLength: 300, size: 'max' })

it('disables a destination only after disableAfter without a success at any process, and after 20 failures', () => {
  let disabled = 0
  fc.assert(
    fc.property(steps, given => {
      const installation = new Installation()
      let now = 1_000
      for (const [each, after] of given) {
        now += after
        installation.apply(each, now)
      }
      if (installation.state?.disabled !== undefined) disabled++
    }),
    { numRuns: 1_000 },
  )
  expect(disabled).toBeGreaterThan(100)
})

it('disables a destination that only fails, whichever processes are killed', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(process, fc.boolean()), { minLength: 60, maxLength: 100 }), given => {
      const installation = new Installation()
      let now = 1_000
      for (const [each, isKilled] of given) {
        now += 5
        installation.apply({ kind: 'failed', process: each }, now)
        installation.apply({ kind: 'turn', process: each }, now)
        if (isKilled) installation.apply({ kind: 'killed', process: each }, now)
      }
      expect(installation.state?.disabled?.reason).toBe('failing')
    }),
  )
})
