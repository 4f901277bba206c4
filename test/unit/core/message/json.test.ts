import { describe, expect, it } from '@jest/globals'
import { canonicalJson, maxNesting, parseField, parseJson } from '../../../../src/core/message/json.ts'

const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels)
const canonicalOf = (text: string) => canonicalJson(JSON.parse(text))

describe('parseJson', () => {
  it.each([
    ['beyond 2^53', '{"userId":12345678901234567890}', { userId: '12345678901234567890' }],
    ['beyond a double', '{"userId":1e400}', { userId: '1e400' }],
    ['small', '{"anonymousId":42}', { anonymousId: '42' }],
    ['with a fraction', '{"groupId":1.50}', { groupId: '1.50' }],
    ['negative zero', '{"previousId":-0}', { previousId: '-0' }],
    ['as message id', '{"messageId":9007199254740993}', { messageId: '9007199254740993' }],
    ['twice: the last one', '{"userId":1,"userId":9007199254740993}', { userId: '9007199254740993' }],
    ['number, then text', '{"userId":1,"userId":"a"}', { userId: 'a' }],
    ['an id of another object stays', '{"userId":7,"traits":{"userId":1.0}}', { userId: '7', traits: { userId: 1 } }],
    ['with an escape in its name', '{"us\\u0065rId":9007199254740993}', { userId: '9007199254740993' }],
    ['with white space', '{ "userId" :\t1.0 }', { userId: '1.0' }],
    [
      'before a member of __proto__',
      '{"userId":1.0,"__proto__":{"userId":2.0}}',
      JSON.parse('{"userId":"1.0","__proto__":{"userId":2}}'),
    ],
    ['only in another object', '{"properties":{"userId":1.0}}', { properties: { userId: 1 } }],
    ['its position is kept', '{"type":"track","userId":7,"event":"x"}', { type: 'track', userId: '7', event: 'x' }],
  ])('an id that is a number becomes its digits as written: %s', (_, text, value) => {
    const parsed = parseJson(text)
    expect(parsed).toEqual({ kind: 'parsed', value })
    expect(JSON.stringify(parsed)).toBe(JSON.stringify({ kind: 'parsed', value }))
  })

  it.each(['null', '5', '"text"', '[{"userId":1.0}]', 'true'])('returns a non-object unchanged: %s', text => {
    expect(parseJson(text)).toEqual({ kind: 'parsed', value: JSON.parse(text) })
  })

  it.each([
    ['a bare NaN', '{"secret":"s3cr3t","a":NaN}', "The message is not JSON: Unexpected token 'N'."],
    ['a word', 'undefined', 'The message is not JSON: unexpected text.'],
    ['nothing', '', 'The message is not JSON: Unexpected end of JSON input.'],
    [
      'cut off',
      '{"a":1',
      "The message is not JSON: Expected ',' or '}' after property value in JSON at position 6 (line 1 column 7).",
    ],
  ])('describes the error without quoting the text: %s', (_, text, message) => {
    expect(parseJson(text)).toEqual({ kind: 'rejected', code: 'invalid_json', message })
  })

  it('accepts 100,000 levels next to a numeric id', () => {
    const parsed = parseJson(`{"userId":5,"properties":${nested(100_000)}}`)
    expect(parsed).toMatchObject({ kind: 'parsed', value: { userId: '5' } })
  })

  it('names the field of the invalid text', () => {
    expect(parseField('{', 'traits')).toMatchObject({
      code: 'invalid_json',
      message: expect.stringMatching(/^traits is not JSON: /),
    })
  })
})

describe('canonicalJson: changes nothing when applied twice', () => {
  it.each([
    ['white space', ' { "a" : [ 1 , 2 ] } ', '{"a":[1,2]}'],
    ['duplicate keys: the last value, the first place', '{"a":1,"b":2,"a":3}', '{"a":3,"b":2}'],
    ['integer-like keys first', '{"b":1,"10":2,"2":3}', '{"2":3,"10":2,"b":1}'],
    ['negative zero', '[-0,-0.0]', '[0,0]'],
    ['exponents', '[1E5,1e-7,1e21,0.000001,1.0]', '[100000,1e-7,1e+21,0.000001,1]'],
    ['more digits than a double has', '12345678901234567890', '12345678901234567000'],
    ['line separators', '"\\u2028\\u2029"', '"\u2028\u2029"'],
    ['control characters and slashes', '"\\u0000\\u001F\\/\\u007f"', '"\\u0000\\u001f/\u007f"'],
    ['escaped ASCII', '"\\u0041"', '"A"'],
    ['empty containers', '{"a":{},"b":[],"":null}', '{"a":{},"b":[],"":null}'],
    ['a pair of surrogates', '"\\ud83d\\ude00"', '"😀"'],
    ['a lone surrogate in a value', '["a\\ud83d","\\ude00b"]', '["a\ufffd","\ufffdb"]'],
    ['a lone surrogate in a key', '{"\\ud83d":{"x":1}}', '{"\ufffd":{"x":1}}'],
    ['keys that become equal', '{"\\ud83d":1,"z":2,"\\udfff":3}', '{"\ufffd":3,"z":2}'],
    [
      'constructor stays',
      '{"constructor":{"prototype":1},"toString":2}',
      '{"constructor":{"prototype":1},"toString":2}',
    ],
  ])('%s', (_, text, expected) => {
    expect(canonicalOf(text)).toEqual({ kind: 'canonical', text: expected, droppedKeys: 0 })
    expect(JSON.stringify(JSON.parse(expected))).toBe(expected)
  })

  it.each([
    ['at the top', '{"__proto__":{"admin":true},"a":1}', '{"a":1}', 1],
    ['at every depth', '{"a":[{"__proto__":1,"b":{"__proto__":null}}],"__proto__":2}', '{"a":[{"b":{}}]}', 3],
    ['with all of its members', '{"__proto__":{"__proto__":1,"x":1e400}}', '{}', 1],
    ['spelled with an escape', '{"__pro\\u0074o__":1}', '{}', 1],
    ['not as a value', '["__proto__"]', '["__proto__"]', 0],
  ])('removes __proto__ and counts it: %s', (_, text, expected, droppedKeys) => {
    expect(canonicalOf(text)).toEqual({ kind: 'canonical', text: expected, droppedKeys })
  })

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

  it('shows only the beginning of a long field name', () => {
    expect(canonicalJson(Number.NaN, 'k'.repeat(10_000))).toMatchObject({
      message: expect.stringMatching(/^k{60}… contains/),
    })
  })
})
