import { expect, it } from '@jest/globals'
import fc from 'fast-check'
import { withChanges } from '../../../../src/core/collections/map-with-changes.ts'

const keys = Array.from({ length: 700 }, (_, key) => key)
const changes = fc.array(fc.uniqueArray(fc.constantFrom(...keys), { minLength: 1, maxLength: 300 }), { maxLength: 8 })

it('a map with changes equals a copied map with the same changes, and earlier maps stay the same', () =>
  fc.assert(
    fc.property(changes, given => {
      let map: ReadonlyMap<number, object> = new Map(keys.map(key => [key, { key }]))
      let copy = new Map(map)
      const earlier: (readonly [ReadonlyMap<number, object>, ReadonlyMap<number, object>])[] = []
      for (const [step, changed] of given.entries()) {
        earlier.push([map, copy])
        const values = new Map(changed.map(key => [key, { key, step }]))
        map = withChanges(map, values)
        copy = new Map([...copy, ...values])
      }
      for (const [one, other] of [...earlier, [map, copy] as const]) {
        expect([...one]).toEqual([...other])
        expect([...one.entries()]).toEqual([...other])
        expect([...one.keys()]).toEqual([...other.keys()])
        expect([...one.values()]).toEqual([...other.values()])
        expect(keys.map(key => one.get(key))).toEqual(keys.map(key => other.get(key)))
        const called: unknown[] = []
        one.forEach((value, key) => void called.push([key, value]))
        expect(called).toEqual([...other])
        expect([one.size, one.has(1), one.has(700), one.get(700)]).toEqual([keys.length, true, false, undefined])
      }
    }),
    { numRuns: 50 },
  ))
