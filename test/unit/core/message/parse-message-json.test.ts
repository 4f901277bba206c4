import { describe, expect, it } from '@jest/globals'
import { parseField, parseMessageText } from '../../../../src/core/message/parse-message-json.ts'

const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels)

describe('parseMessageText', () => {
  it.each([
    [
      'before a member of __proto__',
      '{"userId":1.0,"__proto__":{"userId":2.0}}',
      JSON.parse('{"userId":"1.0","__proto__":{"userId":2}}'),
    ],
    ['its position is kept', '{"type":"track","userId":7,"event":"x"}', { type: 'track', userId: '7', event: 'x' }],
  ])('an id that is a number becomes its digits as written: %s', (_, text, value) => {
    const parsed = parseMessageText(text)
    const expected = { kind: 'parsed', value, addedBytes: 2 }
    expect(parsed).toEqual(expected)
    expect(JSON.stringify(parsed)).toBe(JSON.stringify(expected))
  })

  it.each(['null', '5', '"text"', '[{"userId":1.0}]', 'true'])('returns a non-object unchanged: %s', text => {
    expect(parseMessageText(text)).toEqual({ kind: 'parsed', value: JSON.parse(text) })
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
    expect(parseMessageText(text)).toEqual({ kind: 'rejected', code: 'invalid_json', message })
  })

  it('accepts 100,000 levels next to a numeric id', () => {
    const parsed = parseMessageText(`{"userId":5,"properties":${nested(100_000)}}`)
    expect(parsed).toMatchObject({ kind: 'parsed', value: { userId: '5' } })
  })

  it('names the field of the invalid text', () => {
    expect(parseField('{', 'traits')).toMatchObject({
      code: 'invalid_json',
      message: expect.stringMatching(/^traits is not JSON: /),
    })
  })
})
