import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import type { JsonObject } from '../../../../src/core/message/json.ts'
import { mergePatch } from '../../../../src/core/operator/merge-patch.ts'

const object = fc.dictionary(
  fc.string().filter(name => name !== '__proto__'),
  fc.jsonValue(),
  { noNullPrototype: true },
)
const copy = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T

/** The value without members that are null, at any depth: a merge patch cannot set null. */
function withoutNulls(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]) => (inner === null ? [] : [[name, withoutNulls(inner)]])),
  )
}

/** The patch from one object to another, by the definition of RFC 7396. */
function patchBetween(before: JsonObject, after: JsonObject): JsonObject {
  const removed = Object.keys(before).filter(name => !Object.hasOwn(after, name))
  return {
    ...Object.fromEntries(removed.map(name => [name, null])),
    ...Object.fromEntries(
      Object.entries(after).map(([name, value]) => {
        const earlier = Object.hasOwn(before, name) ? before[name] : undefined
        return isMapping(earlier) && isMapping(value) ? [name, patchBetween(earlier, value)] : [name, value]
      }),
    ),
  }
}
const isMapping = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

describe('a JSON Merge Patch', () => {
  it('from one object to another makes the other one', () => {
    fc.assert(
      fc.property(object, object, (before, wanted) => {
        const after = withoutNulls(wanted) as JsonObject
        expect(copy(mergePatch(before, patchBetween(before, after)))).toEqual(copy(after))
      }),
    )
  })

  it('applied twice gives the same as applied once, and changes no argument', () => {
    fc.assert(
      fc.property(object, object, (before, patch) => {
        const [target, given] = [copy(before), copy(patch)]
        const once = mergePatch(before, patch)
        expect(mergePatch(once, patch)).toEqual(once)
        expect([copy(before), copy(patch)]).toEqual([target, given])
      }),
    )
  })
})

// The cases of RFC 7396, appendix A, in which the target and the patch are objects.
const cases: readonly [JsonObject, JsonObject, JsonObject][] = [
  [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
  [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
  [{ a: 'b' }, { a: null }, {}],
  [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
  [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
  [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
  [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
  [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
]
it.each(cases)('RFC 7396: %j with %j is %j', (target, patch, expected) => {
  expect(mergePatch(target, patch)).toEqual(expected)
})
