import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { BodyBudget } from '../../../../src/core/collector/request-body-memory-budget.ts'

const limits = { authenticated: 1_000, keyless: 300, perAddress: 800 }
const step = fc.record({
  source: fc.constantFrom(undefined, 'a', 'b', 'c'),
  address: fc.constantFrom('x', 'y', 'z'),
  bytes: fc.integer({ min: 1, max: 300 }),
  waitMs: fc.constantFrom(0, 1, 2_000),
  next: fc.constantFrom('receiving', 'received', 'released', 'assigned', 'answered'),
})

describe('the body budget', () => {
  it('never exceeds a limit, and is empty when every body is released', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), steps => {
        let now = 0
        const budget = new BodyBudget(
          limits,
          () => now,
          () => {},
        )
        const bodies = steps.map(({ source, address, bytes, waitMs, next }) => {
          now += waitMs
          const body = budget.open({ sourceId: source, address }, () => {})
          body.take(bytes)
          if (next === 'received') body.received()
          if (next === 'released') body.release()
          if (next === 'assigned') body.assign('c')
          if (next === 'answered') body.answered(bytes / 2)
          expect(budget.held.authenticated).toBeLessThanOrEqual(limits.authenticated)
          expect(budget.held.keyless).toBeLessThanOrEqual(limits.keyless)
          return body
        })
        for (const body of bodies) body.release()
        expect(budget.held).toEqual({ authenticated: 0, keyless: 0 })
      }),
    )
  })

  it('has memory for a small body of another source, however many complete bodies of some sources wait', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), steps => {
        const budget = new BodyBudget(
          { ...limits, perAddress: 10_000 },
          () => 0,
          () => {},
        )
        for (const { source, address, bytes } of steps) {
          const body = budget.open({ sourceId: source, address }, () => {})
          body.take(bytes)
          body.received()
        }
        // A source may use half of the free memory. Three sources leave an eighth, and the newcomer
        // may use half of it.
        expect(budget.open({ sourceId: 'newcomer', address: 'n' }, () => {}).take(limits.authenticated / 16)).toBe(true)
      }),
    )
  })

  it('gives a source its share, whatever other sources send', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), fc.integer({ min: 1, max: 200 }), (steps, bytes) => {
        let now = 0
        const budget = new BodyBudget(
          { ...limits, perAddress: 10_000 },
          () => now,
          () => {},
        )
        for (const each of steps) {
          now += each.waitMs
          budget.open({ sourceId: each.source, address: each.address }, () => {}).take(each.bytes)
        }
        expect(budget.open({ sourceId: 'newcomer', address: 'n' }, () => {}).take(bytes)).toBe(true)
      }),
    )
  })
})
