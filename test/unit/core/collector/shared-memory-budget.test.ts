import { describe, expect, it } from '@jest/globals'
import { MemoryBudget } from '../../../../src/core/collector/memory-budget.ts'

describe('a budget of 100 bytes', () => {
  it.each<[string, readonly number[], number, boolean]>([
    ['fits', [], 100, true],
    ['fits beside others', [60], 40, true],
    ['does not fit beside others', [60], 41, false],
    ['larger than all of it, alone', [], 1_000, true],
    ['anything beside a body larger than the budget', [1_000], 1, false],
    ['larger than all of it, when the others have released their memory', [60, -60], 1_000, true],
  ])('%s', (_, before, bytes, expected) => {
    const budget = new MemoryBudget(100)
    for (const each of before) each < 0 ? budget.giveBack(-each) : budget.take(each)
    const held = budget.held
    expect(budget.take(bytes)).toBe(expected)
    expect(budget.held).toBe(expected ? held + bytes : held)
  })
})
