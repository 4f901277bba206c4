import { describe, expect, it } from '@jest/globals'
import { absentValue } from '../../../../src/core/audience/configured-audiences.ts'
import { parseValue } from '../../../../src/core/audience/parse-member-line.ts'

const shown = (kind: 'audience' | 'trait', given: unknown): string => {
  const result = parseValue(kind, given)
  return result.kind === 'value' ? result.value : `refused: ${result.message}`
}

describe('values of an audience are booleans', () => {
  it.each([
    [undefined, 'true'],
    [true, 'true'],
    [false, 'false'],
    [null, 'false'],
    ['true', 'refused: must be true or false'],
    [1, 'refused: must be true or false'],
    [[true], 'refused: must be true or false'],
  ])('%j: %s', (given, expected) => {
    expect(shown('audience', given)).toBe(expected)
  })
})

describe('values of a computed trait are numbers, strings and lists', () => {
  const form = 'refused: must be a number, a string, a list of numbers and strings, or null'
  it.each([
    [12.5, '12.5'],
    [-0, '0'],
    ['gold', '"gold"'],
    ['', '""'],
    ['\ud800', '"\ufffd"'],
    [['b', 'a', 1], '["b","a",1]'],
    [[], '[]'],
    [null, 'null'],
    [undefined, 'refused: is missing: a computed trait needs a value for each user'],
    [true, form],
    [{ a: 1 }, form],
    [[['a']], form],
    [['a', null], form],
    [Number.POSITIVE_INFINITY, 'refused: contains a number beyond ±1.8e308: send a string instead'],
  ])('%j: %s', (given, expected) => {
    expect(shown('trait', given)).toBe(expected)
  })
})

it('a user whom a full sync does not name gets false, or null for a trait', () => {
  expect([absentValue('audience'), absentValue('trait')]).toEqual(['false', 'null'])
})
