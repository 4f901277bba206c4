import { describe, expect, it } from '@jest/globals'
import { membersIn, splitJson } from '../../../../src/core/message/split-json.ts'

const options = { list: 'batch', members: ['writeKey', 'context'], maxElements: 6 }

/**
 * If the outcome is a list, returns the texts of its elements, then of its members (`name=text`).
 * Otherwise returns the kind of the outcome.
 */
function cut(text: string, maxElements = options.maxElements): readonly string[] | string {
  const outcome = splitJson(text, { ...options, maxElements })
  if (outcome.kind !== 'list') return outcome.kind
  const { elements, members } = outcome
  const texts = Array.from({ length: elements.length / 2 }, (_, index) =>
    text.slice(elements[2 * index], elements[2 * index + 1]),
  )
  return [...texts, ...[...members].map(([name, member]) => `${name}=${member}`)]
}

describe('cuts JSON where a parser would', () => {
  it.each<[string, string, readonly string[]]>([
    ['an empty list', ' [ ] ', []],
    ['an empty batch', '{"batch":[]}', []],
    ['white space', ' {\n"batch" :\t[ 1 , 2 ] , "x" : 3 }\r\n', ['1 ', '2 ']],
    [
      'members beside it, before and after',
      '{"writeKey":"k","batch":[1],"x":[{}],"context":{"a":[1]}}',
      ['1', 'writeKey="k"', 'context={"a":[1]}'],
    ],
    ['two members of one name: the last one', '{"context":1,"batch":[],"context":2}', ['context=2']],
    ['a nested list of that name', '{"x":{"batch":[9]},"batch":[1]}', ['1']],
  ])('%s', (_, text, expected) => {
    expect(cut(text)).toEqual(expected)
    expect(() => JSON.parse(text)).not.toThrow()
  })
})

describe('a broken element does not affect the others', () => {
  it.each<[string, string, readonly string[]]>([
    ['a brace in a list that is not closed', '[{"a":[{"x":1],"y":2},{"b":2}]', ['{"a":[{"x":1],"y":2}', '{"b":2}']],
    [
      'an unclosed brace: its end is unknown',
      '{"batch":[1,{"a":1,{"b":2}],"context":3}',
      ['1', '{"a":1,{"b":2}', 'context=3'],
    ],
    ['a quote in a string', '[{"a":"say "hi" now"},2]', ['{"a":"say "hi" now"}', '2']],
    ['a broken member that is not needed', '{"x":NaN,"y":[1},"batch":[1]}', []],
  ])('%s', (_, text, expected) => {
    const isBroken = expected.length === 0
    expect(cut(text)).toEqual(isBroken ? 'broken' : expected)
    expect(() => JSON.parse(text)).toThrow(SyntaxError)
  })

  it('a broken member outside the list is returned unchanged', () => {
    expect(cut('{"x":NaN,"context":nonsense,"batch":[1]}')).toEqual(['1', 'context=nonsense'])
  })
})

describe('broken: the text between the elements', () => {
  it.each([
    ['a list that does not end', '[1,2'],
    ['an object that does not end', '{"batch":[1,2]'],
    ['an element that does not end', '{"batch":[1,{"a":2'],
    ['a string that does not end', '["a,1,2]'],
    ['a string that does not end, with a backslash', '["a\\'],
    ['a name that does not end', '{"batch'],
    ['a name that is broken', '{"\\x":1,"batch":[1]}'],
    ['no name', '{batch:[1]}'],
    ['no colon', '{"batch" [1]}'],
    ['no comma between members', '{"batch":[1] "x":2}'],
    ['a comma at the end of the members', '{"batch":[1],}'],
    ['a surplus bracket: the end of the list is unknown', '{"batch":[{"a":1]},{"b":2}]}'],
    ['text after the object', '{"batch":[1]} 2'],
    ['text after the list', '[1] [2]'],
  ])('%s', (_, text) => {
    expect(cut(text)).toBe('broken')
  })
})

describe('no list', () => {
  it.each([
    ['nothing', '', 'scalar'],
    ['only white space', ' \n', 'scalar'],
    ['neither list nor object', '"batch"', 'scalar'],
    ['an empty object', ' {} ', 'object'],
    ['no member of that name', '{"a":[1]}', 'object'],
    ['the member is not a list', '{"batch":{"0":{}}}', 'object'],
    ['the last member of that name is not a list', '{"batch":[1],"batch":2}', 'object'],
  ])('%s', (_, text, expected) => {
    expect(cut(text)).toBe(expected)
  })
})

describe('membersIn', () => {
  it.each<[string, string, object]>([
    ['a member that is cut off', '{"writeKey":"k","x":NaN,"context":[', { writeKey: '"k"', context: '[' }],
    ['none of a list', '["writeKey","k"]', {}],
  ])('%s', (_, text, expected) => {
    expect(Object.fromEntries(membersIn(text, ['writeKey', 'context']))).toEqual(expected)
  })
})

describe('the maximum number of elements', () => {
  it.each([
    ['exactly the maximum', 3, '[1,2,3]', ['1', '2', '3']],
    ['one more', 2, '[1,2,3]', 'too_many'],
    ['one more, in a batch', 2, '{"batch":[,,]}', 'too_many'],
    ['one more in a list that another list of its name replaces', 2, '{"batch":[1,2,3],"batch":[4]}', ['4']],
  ])('%s', (_, most, text, expected) => {
    expect(cut(text, most)).toEqual(expected)
  })
})

describe('hostile texts need time in proportion to their length', () => {
  const size = 1_000_000
  it.each([
    ['brackets that only open', '['.repeat(size), 'broken'],
    ['brackets that only open, in a batch', `{"batch":[${'[{'.repeat(size / 2)}`, 'broken'],
    ['brackets that only close', `[${'}'.repeat(size)}`, 'broken'],
    ['opening braces, then closing brackets', `[${'{'.repeat(size / 2)}${']'.repeat(size / 2)}`, 'broken'],
    ['pairs that do not match', `[${'[}'.repeat(size / 2)}`, 'broken'],
    ['commas', `[${','.repeat(size)}]`, 'too_many'],
    ['quotes', `[${'"'.repeat(size)}]`, [`${'"'.repeat(size)}`]],
    ['backslashes', `["${'\\'.repeat(size)}"]`, [`"${'\\'.repeat(size)}"`]],
    ['members', `{${'"a":1,'.repeat(size / 6)}"batch":[]}`, []],
    ['nesting that is closed', `[${'['.repeat(size / 2)}${']'.repeat(size / 2)}]`, undefined],
  ])('%s', (_, text, expected) => {
    const outcome = cut(text)
    if (expected !== undefined) expect(outcome).toEqual(expected)
    else expect(outcome).toEqual([text.slice(1, -1)])
  })
})
