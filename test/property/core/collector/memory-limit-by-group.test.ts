import { expect, it } from '@jest/globals'
import fc from 'fast-check'
import { SharedMemory } from '../../../../src/core/collector/memory-limit-by-group.ts'

const limit = 1_000
const steps = fc.array(
  fc.record({
    group: fc.constantFrom('a', 'b', 'c'),
    bytes: fc.integer({ min: 1, max: 400 }),
    isGivenBack: fc.boolean(),
  }),
  { maxLength: 60 },
)

it('groups never exceed the limit together, leave memory for another group, and can give back everything', () => {
  fc.assert(
    fc.property(steps, all => {
      const memory = new SharedMemory(limit)
      const taken: (readonly [string, number])[] = []
      for (const { group, bytes, isGivenBack } of all) {
        if (!memory.take(group, bytes)) continue
        if (isGivenBack) memory.giveBack(group, bytes)
        else taken.push([group, bytes])
        expect(memory.held).toBeLessThanOrEqual(limit)
      }
      // A group may hold three quarters of the free memory, so three groups leave at least 1/64 of
      // the limit.
      expect(memory.take('newcomer', Math.floor((3 / 4) * (limit / 64)))).toBe(true)
      memory.giveBack('newcomer', Math.floor((3 / 4) * (limit / 64)))
      for (const [group, bytes] of taken) memory.giveBack(group, bytes)
      expect(memory.held).toBe(0)
    }),
  )
})
