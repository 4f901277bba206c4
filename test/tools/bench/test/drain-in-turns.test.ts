import { describe, expect, it } from '@jest/globals'
import { nextTurn, type Waiting } from '../drain-in-turns.ts'

describe('the next turn of a bench run', () => {
  /** `0.5/2` has done half of its work and missed two turns. */
  it.each([
    ['the only one', '0.5/0', 0],
    ['the one with the least progress', '0.5/2 0.2/0 0.4/1', 1],
    ['of two with equal progress, the one with more missed turns', '0/1 0/2', 1],
    ['one with the maximum number of missed turns', '0.9/3 0.1/2', 0],
    ['of several at the maximum, the one with the most missed turns', '0.9/3 0.1/4 0/0', 1],
  ])('%s', (_, waiting, expected) => {
    const members = waiting.split(' ').map((each): Waiting => {
      const [done = 0, missed = 0] = each.split('/').map(Number)
      return { done, missed }
    })
    expect(nextTurn(members)).toBe(members[expected])
  })

  it('refuses an empty list', () => expect(() => nextTurn([])).toThrow(RangeError))

  it('lets others continue when one makes no progress', () => {
    const members = Array.from({ length: 3 }, () => ({ done: 0, missed: 0 }))
    const [still] = members
    for (let turn = 0; turn < 60; turn++) {
      const next = nextTurn(members)
      for (const each of members) each.missed = each === next ? 0 : each.missed + 1
      if (next !== still) next.done += 0.01
      expect(Math.max(...members.map(({ missed }) => missed))).toBeLessThanOrEqual(4)
    }
    expect(Math.min(...members.slice(1).map(({ done }) => done))).toBeGreaterThanOrEqual(0.08)
  })
})
