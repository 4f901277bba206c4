import { expect, it } from '@jest/globals'
import { combineResults, quantile, some } from '../result-of-a-check.ts'

it('joins several examinations into one', () => {
  const parts = [
    { measured: ['a'], failures: [] },
    { measured: ['b'], failures: ['c'] },
  ]
  expect(combineResults(parts)).toEqual({ measured: ['a', 'b'], failures: ['c'] })
})

it.each([
  { name: 'no value', values: [], share: 0.5, is: 0 },
  { name: 'one value', values: [7], share: 0.99, is: 7 },
  { name: 'the median, sorted as numbers', values: [10, 9, 100], share: 0.5, is: 10 },
  { name: 'the maximum', values: [3, 1, 2], share: 1, is: 3 },
])('the quantile of $name', ({ values, share, is }) => {
  expect(quantile(values, share)).toBe(is)
})

it.each([
  { all: ['a'], is: '1 (a)' },
  { all: ['a', 'b', 'c', 'd'], is: '4 (a; b; c; …)' },
])('some of $all', ({ all, is }) => {
  expect(some(all)).toBe(is)
})
