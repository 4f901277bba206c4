import { expect, it } from '@jest/globals'
import { nearest } from '../../../../src/adapters/kafka/member.ts'

it.each([
  { position: 3, expected: 5 },
  { position: 5, expected: 5 },
  { position: 7, expected: 7 },
  { position: 9, expected: 9 },
  { position: 12, expected: 9 },
])('a log from 5 to 9 is gone on with at $expected from $position', ({ position, expected }) => {
  expect(nearest(position, 5, 9)).toBe(expected)
})
