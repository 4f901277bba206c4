import { describe, expect, it } from '@jest/globals'
import { passagesOf, quantile } from '../latency-under-load.ts'

describe('the latency of a live load', () => {
  const appended = new Map([
    [5, 1_000],
    [6, 1_001],
    [7, 1_002],
  ])

  it('runs from the append to the first success, and is infinite for an event that never came', () => {
    const passages = passagesOf(appended, { numbers: [6, 5, 6], times: [1_021.5, 1_030, 1_099] }, 5, 3)
    expect(passages).toEqual([
      { number: 5, ms: 30 },
      { number: 6, ms: 20.5 },
      { number: 7, ms: undefined },
    ])
    expect(quantile(passages, 0.5)).toBe(30)
    expect(quantile(passages, 0.99)).toBe(Number.POSITIVE_INFINITY)
  })
})
