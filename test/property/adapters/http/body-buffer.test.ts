import { describe, expect, it, jest } from '@jest/globals'
import fc from 'fast-check'
import { BodyBuffer } from '../../../../src/adapters/http/body-buffer.ts'
import { createReservation } from '../../../../src/adapters/http/body-memory-reservation.ts'
import { ScriptedTrackingApi } from '../../../support/collector/scripted-tracking-api.ts'

const pieces = fc.array(fc.uint8Array({ maxLength: 40_000 }), { maxLength: 8 })
const bytesOf = (list: readonly Uint8Array[]): Buffer => Buffer.concat(list.map(piece => Buffer.from(piece)))

describe('BodyBuffer', () => {
  it('keeps all bytes, reserves at least their size and at most the limit, and releases all', () => {
    fc.assert(
      fc.property(pieces, fc.boolean(), fc.integer({ min: 1, max: 200_000 }), (list, isKnown, limit) => {
        const api = new ScriptedTrackingApi()
        const memory = createReservation(api)
        const whole = bytesOf(list)
        const store = new BodyBuffer({ limit, memory, expected: isKnown ? whole.length : undefined })
        const kept = list.map(piece => store.add(Buffer.from(piece)))
        const fits = kept.every(each => each === 'kept')
        expect(fits).toBe(whole.length <= limit)
        if (fits) {
          const some = Math.min(whole.length, 20_000)
          expect(store.beginning(some).equals(whole.subarray(0, some))).toBe(true)
          expect(store.bytes().equals(whole)).toBe(true)
        }
        expect(api.reserved).toBeGreaterThanOrEqual(store.bytes().length)
        expect(api.reserved).toBeLessThanOrEqual(Math.max(limit, isKnown ? whole.length : 0))
        memory.release()
        memory.release()
        expect(api.reserved).toBe(0)
      }),
    )
  })

  it('grows without copies, and allocates at most a quarter more than it stores', () => {
    const allocate = jest.spyOn(Buffer, 'allocUnsafeSlow')
    const store = new BodyBuffer({ limit: 4_000_000, memory: createReservation(new ScriptedTrackingApi()) })
    for (let sent = 0; sent < 50; sent += 1) store.add(Buffer.alloc(65_536, 'x'))
    const allocated = allocate.mock.calls.reduce((sum, [size]) => sum + size, 0)
    allocate.mockRestore()
    expect(allocated / store.length).toBeLessThan(1.26)
    expect(store.bytes().equals(Buffer.alloc(50 * 65_536, 'x'))).toBe(true)
  })

  it('frees the memory of an aborted body immediately', () => {
    const piece = Buffer.alloc(65_536, 'x')
    const api = new ScriptedTrackingApi()
    const store = new BodyBuffer({ limit: 8_000_000, memory: createReservation(api) })
    for (let sent = 0; sent < 100; sent += 1) store.add(piece)
    // Threads of V8 may free garbage at any time, also between these two calls.
    const before = process.memoryUsage().arrayBuffers
    store.free()
    const freed = before - process.memoryUsage().arrayBuffers
    expect(api.reserved).toBeGreaterThan(6_000_000)
    expect(freed).toBeGreaterThanOrEqual(api.reserved)
    expect(store.length).toBe(0)
  })

  it.each<[string, expected: number | undefined]>([
    ['of known length, in one chunk', 100],
    ['of unknown length', undefined],
  ])('distinguishes a body that can never fit from one without memory at present: %s', (_, expected) => {
    const add = (maxPerRequest: number): string => {
      const memory = { take: () => false, canEverHold: (bytes: number) => bytes <= maxPerRequest }
      return new BodyBuffer({ limit: 100, memory, expected }).add(Buffer.alloc(100))
    }
    expect([add(99), add(100)]).toEqual(['never_fits', 'no_memory'])
  })

  it('stops when no memory is available, and releases all that it reserved', () => {
    fc.assert(
      fc.property(pieces, fc.integer({ min: 0, max: 100_000 }), (list, budget) => {
        const api = new ScriptedTrackingApi()
        api.budget = budget
        const memory = createReservation(api)
        const store = new BodyBuffer({ limit: 1_000_000, memory })
        for (const piece of list) if (store.add(Buffer.from(piece)) === 'no_memory') break
        expect(store.bytes().length).toBeLessThanOrEqual(budget)
        expect(api.reserved).toBeLessThanOrEqual(budget)
        memory.release()
        expect(api.reserved).toBe(0)
      }),
    )
  })
})
