import { describe, expect, it } from '@jest/globals'
import { canonicalJson, maxNesting } from '../../../../src/core/message/canonical-json.ts'

const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels)
const canonicalOf = (text: string) => canonicalJson(JSON.parse(text))

describe('canonicalJson', () => {
  it.each([
    ['undefined', undefined, 'null'],
    ['undefined within', { a: undefined, b: [undefined] }, '{"b":[null]}'],
    ['a bigint within', { a: 1n, b: [1n] }, '{"b":[null]}'],
    ['a hole in a list', new Array(2), '[null,null]'],
  ])('writes values that JSON does not have like JSON.stringify: %s', (_, value, text) => {
    expect(canonicalJson(value)).toEqual({ kind: 'canonical', text, droppedKeys: 0 })
  })
})

describe('canonicalJson: rejections', () => {
  it.each(['1e400', '[-1e999]', '{"a":{"b":[1,{"c":1e309}]}}', '["\\ud83d",1e400]'])(
    'a number that is not finite: %s',
    text => {
      expect(canonicalJson(JSON.parse(text), 'properties')).toEqual({
        kind: 'rejected',
        code: 'non_finite_number',
        message: 'properties contains a number beyond ±1.8e308: send a string instead.',
      })
    },
  )

  it.each([
    ['lists', nested(maxNesting), nested(maxNesting + 1)],
    ['objects', `${'{"a":'.repeat(99)}{}${'}'.repeat(99)}`, `${'{"a":'.repeat(100)}{}${'}'.repeat(100)}`],
    ['after a value that is rewritten', `["\\ud83d",${nested(99)}]`, `["\\ud83d",${nested(100)}]`],
  ])('accepts 100 levels, and rejects 101: %s', (_, taken, refused) => {
    expect(canonicalOf(taken)).toMatchObject({ kind: 'canonical' })
    expect(canonicalJson(JSON.parse(refused), 'traits')).toEqual({
      kind: 'rejected',
      code: 'too_deep',
      message: 'traits is nested more than 100 levels deep: flatten it.',
    })
  })

  it('100,000 levels do not overflow the stack', () => {
    expect(canonicalOf(nested(100_000))).toMatchObject({ code: 'too_deep' })
  })

  it('rejects a cycle as too deep', () => {
    const cycle: unknown[] = []
    cycle.push(cycle)
    expect(canonicalJson(cycle)).toMatchObject({ code: 'too_deep' })
  })
})
