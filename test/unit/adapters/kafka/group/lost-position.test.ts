import { expect, it } from '@jest/globals'
import { nearestOffset, skippedOffsets } from '../../../../../src/adapters/kafka/group/lost-position.ts'

it.each([
  { position: 3, expected: 5 },
  { position: 5, expected: 5 },
  { position: 7, expected: 7 },
  { position: 9, expected: 9 },
  { position: 12, expected: 9 },
])('nearest to $position in a log from 5 to 9 is $expected', ({ position, expected }) => {
  expect(nearestOffset(position, 5, 9)).toBe(expected)
})

it.each([
  ['four records that retention has deleted count', 3, 7, 4],
  ['a truncated log counts as one', 7, 3, 1],
])('%s', (_, from, to, expected) => {
  expect(skippedOffsets({ from, to })).toBe(expected)
})
