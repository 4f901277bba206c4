import { expect, it } from '@jest/globals'
import { matches, parsePattern } from '../../../../src/core/delivery/name-pattern.ts'

it.each<[pattern: string, name: string, isMatch: boolean]>([
  ['Order Completed', 'Order Completed', true],
  ['Order Completed', 'Order Completed 2', false],
  ['Order Completed', 'order completed', false],
  ['Order *', 'Order Completed', true],
  ['Order *', 'Order ', true],
  ['Order *', 'Order', false],
  ['Order *', 'An Order Completed', false],
  ['* Viewed', 'Product Viewed', true],
  ['* Viewed', 'Product Viewed Twice', false],
  ['*Order*', 'Order', true],
  ['*Order*', 'My Orders', true],
  ['*Order*', 'Ord er', false],
  ['a*b*c', 'abc', true],
  ['a*b*c', 'a-b-b-c', true],
  ['a*b*c', 'acb', false],
  ['a*bc*c', 'abc', false],
  ['aba*aba', 'aba', false],
  ['ab*ba', 'aba', false],
  ['ab*ba', 'abba', true],
  ['a*a*a', 'aa', false],
  ['a*a*a', 'aaa', true],
  ['*', '', true],
  ['*', 'anything\nof two lines', true],
  ['**', 'anything', true],
  ['a**b', 'ab', true],
  ['a.c', 'abc', false],
  ['(a|b)?', '(a|b)?', true],
  ['a?c', 'abc', false],
  ['[a]*', '[a]b', true],
  ['\\*', '\\anything', true],
  ['*😀', 'Order 😀', true],
])('%j and %j: %s', (pattern, name, isMatch) => {
  expect(matches(parsePattern(pattern), name)).toBe(isMatch)
})
