import { describe, expect, it } from '@jest/globals'
import { passagesBetween } from '../rows/resend.ts'

describe('the live events during a resend', () => {
  const passages = Array.from({ length: 10 }, (_, number) => ({ number, ms: 20 }))
  const numbers = (from: number, to: number) => passagesBetween(passages, 2, from, to).map(({ number }) => number)

  it('are those that were appended between its start and its end', () =>
    expect(numbers(1_000, 3_000)).toEqual([2, 3, 4, 5]))

  it('are limited to those of the load', () => {
    expect(numbers(-1_000, 1_000)).toEqual([0, 1])
    expect(numbers(4_000, 9_000)).toEqual([8, 9])
  })
})
