import { describe, expect, it } from '@jest/globals'
import { growthOf } from '../rows/memory.ts'

describe('memory over a run', () => {
  const run = (resident: (x: number) => number) => Array.from({ length: 101 }, (_, x) => ({ x, y: resident(x) }))

  it('ignores growth in the first quarter', () => {
    expect(
      growthOf(
        run(x => Math.min(100, 50 + 2 * x)),
        100,
      ),
    ).toEqual({ growth: 1, perMillion: 0 })
  })

  it('shows continued growth in the ratio and in the slope', () => {
    const { growth, perMillion } = growthOf(
      run(x => 100 + x),
      100,
    )
    expect(growth).toBeGreaterThan(1.3)
    expect(perMillion).toBeCloseTo(1e6)
  })

  it('has no result with too few samples', () => expect(growthOf([{ x: 90, y: 1 }], 100).growth).toBeNaN())
})
