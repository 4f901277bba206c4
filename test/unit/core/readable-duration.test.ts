import { expect, it } from '@jest/globals'
import { durationMs, readableDuration } from '../../../src/core/time.ts'

it.each([
  [0, '0ms'],
  [999, '999ms'],
  [5_000, '5s'],
  [60_000, '1m'],
  [90_000, '1m 30s'],
  [13_900_000, '3h 51m 40s'],
  [14_415_000, '4h 15s'],
  [90_000_001, '25h 1ms'],
])('readableDuration: %i ms → %s', (duration, text) => {
  expect(readableDuration(durationMs(duration))).toBe(text)
})
