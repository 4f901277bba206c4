import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { LastOffsetOfOthers } from '../../../../src/core/flow/last-offset-of-other-destinations.ts'

const destinations = ['a', 'b', 'c', 'd'] as const
const routed = fc.array(fc.record({ offset: fc.nat({ max: 12 }), destination: fc.constantFrom(...destinations) }))

describe('LastOffsetOfOthers', () => {
  it('agrees with a list of all routed events, in any order', () => {
    fc.assert(
      fc.property(routed, fc.nat({ max: 13 }), fc.constantFrom(...destinations, 'never routed'), (all, from, asked) => {
        const last = new LastOffsetOfOthers()
        for (const { offset, destination } of all) last.add(offset, destination)
        const hasOthers = all.some(({ offset, destination }) => destination !== asked && offset >= from)
        expect(last.hasRecordForOthers(asked, from)).toBe(hasOthers)
      }),
    )
  })
})
