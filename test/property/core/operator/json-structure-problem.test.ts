import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { structureProblem } from '../../../../src/core/operator/json-structure-problem.ts'

const key = fc.oneof(fc.string(), fc.constantFrom('a', '"', '\\', '{', ',', ':')).filter(name => name !== '__proto__')
const { value } = fc.letrec(tie => ({
  value: fc.oneof(
    { maxDepth: 6 },
    fc.oneof(fc.string({ unit: 'grapheme' }), fc.double(), fc.boolean(), fc.constant(null)),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(key, tie('value'), { maxKeys: 4, noNullPrototype: true }),
  ),
}))

describe('structureProblem', () => {
  it('finds nothing in the text of a value, however it is spaced', () => {
    fc.assert(
      fc.property(value, fc.constantFrom(undefined, 2, '\t'), (each, indent) => {
        expect(structureProblem(JSON.stringify(each, undefined, indent))).toBeUndefined()
      }),
    )
  })

  it('finds a key that an object has twice, with its path', () => {
    fc.assert(
      fc.property(value, value, key, fc.nat(20), (before, after, name, depth) => {
        const twice = `{${JSON.stringify(name)}:${JSON.stringify(before)},${escaped(name)}:${JSON.stringify(after)}}`
        const text = `${'[null,{"in":'.repeat(depth)}${twice}${'}]'.repeat(depth)}`
        const path = [...Array.from({ length: depth }, () => [1, 'in']).flat(), name]
        expect(structureProblem(text)).toEqual({ kind: 'duplicate_key', path })
      }),
    )
  })

  it('finds what is nested too deeply, and reads a string of a megabyte in linear time', () => {
    const long = JSON.stringify({ a: 'x\\"'.repeat(400_000) })
    const before = process.cpuUsage()
    expect(structureProblem(long)).toBeUndefined()
    // This takes milliseconds. A quadratic algorithm would take minutes.
    expect(process.cpuUsage(before).user).toBeLessThan(10_000_000)
    expect(structureProblem('['.repeat(100) + ']'.repeat(100))).toBeUndefined()
    expect(structureProblem('['.repeat(101) + ']'.repeat(101))).toMatchObject({ kind: 'too_deep' })
  })
})

/** A key as JSON, with all of its characters escaped. */
const escaped = (name: string): string =>
  `"${[...Array(name.length).keys()].map(at => `\\u${name.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')}"`
