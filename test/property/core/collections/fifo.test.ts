import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { Fifo } from '../../../../src/core/collections/fifo.ts'

describe('Fifo', () => {
  it('behaves as an array does', () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('push' as const), item: fc.nat() }),
      fc.record({ kind: fc.constant('unshift' as const), item: fc.nat() }),
      fc.record({ kind: fc.constant('shift' as const) }),
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), steps => {
        const fifo = new Fifo<number>()
        const oracle: number[] = []
        for (const each of steps) {
          if (each.kind === 'shift') expect(fifo.shift()).toBe(oracle.shift())
          else {
            fifo[each.kind](each.item)
            oracle[each.kind](each.item)
          }
          expect([...fifo]).toEqual(oracle)
          expect([fifo.length, fifo.peek()]).toEqual([oracle.length, oracle[0]])
        }
      }),
    )
  })

  it('keeps the order and releases removed items', () => {
    const fifo = new Fifo<number>()
    for (let item = 0; item < 10_000; item++) fifo.push(item)
    for (let item = 0; item < 9_000; item++) expect(fifo.shift()).toBe(item)
    fifo.unshift(-1)
    expect([fifo.shift(), fifo.shift(), fifo.length]).toEqual([-1, 9_000, 999])
  })
})
