import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { ByteStore, createReservation } from '../../../../src/adapters/http/memory.ts'
import { ScriptedTrackingApi } from '../../../support/scripted-tracking-api.ts'

const pieces = fc.array(fc.uint8Array({ maxLength: 40_000 }), { maxLength: 8 })
const bytesOf = (list: readonly Uint8Array[]): Buffer => Buffer.concat(list.map(piece => Buffer.from(piece)))

describe('a store of bytes', () => {
  it('holds what it was given, takes at least as much memory and never more than the limit, and gives all back', () => {
    fc.assert(
      fc.property(pieces, fc.boolean(), fc.integer({ min: 1, max: 200_000 }), (list, isKnown, limit) => {
        const api = new ScriptedTrackingApi()
        const memory = createReservation(api)
        const whole = bytesOf(list)
        const store = new ByteStore({ limit, memory, expected: isKnown ? whole.length : undefined })
        const kept = list.map(piece => store.add(Buffer.from(piece)))
        const fits = kept.every(each => each === 'kept')
        expect(fits).toBe(whole.length <= limit)
        if (fits) expect(store.bytes().equals(whole)).toBe(true)
        expect(api.reserved).toBeGreaterThanOrEqual(store.bytes().length)
        expect(api.reserved).toBeLessThanOrEqual(Math.max(limit, isKnown ? whole.length : 0))
        memory.giveBack()
        memory.giveBack()
        expect(api.reserved).toBe(0)
      }),
    )
  })

  it('stops where there is no more memory, and has taken nothing that it does not give back', () => {
    fc.assert(
      fc.property(pieces, fc.integer({ min: 0, max: 100_000 }), (list, budget) => {
        const api = new ScriptedTrackingApi()
        api.budget = budget
        const memory = createReservation(api)
        const store = new ByteStore({ limit: 1_000_000, memory })
        for (const piece of list) if (store.add(Buffer.from(piece)) === 'no_memory') break
        expect(store.bytes().length).toBeLessThanOrEqual(budget)
        expect(api.reserved).toBeLessThanOrEqual(budget)
        memory.giveBack()
        expect(api.reserved).toBe(0)
      }),
    )
  })
})
