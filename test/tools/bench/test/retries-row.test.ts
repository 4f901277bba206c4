import { describe, expect, it } from '@jest/globals'
import { costsOf } from '../rows/retries.ts'

describe('the cost of a scheduled retry', () => {
  it('is the extra cost of a run with failures, less one attempt each', () => {
    const plain = { perCpuSecond: 10_000, cpuToTheEnd: 7 }
    expect(costsOf(plain, { cpuToTheEnd: 7 + 0.15, refused: 1_000 })).toEqual({
      attempt: 100,
      parkAndRelease: expect.closeTo(50),
    })
  })

  it('has no result when the cost comes out negative', () => {
    const plain = { perCpuSecond: 10_000, cpuToTheEnd: 7 }
    expect(costsOf(plain, { cpuToTheEnd: 7, refused: 1_000 }).parkAndRelease).toBeNaN()
  })
})
