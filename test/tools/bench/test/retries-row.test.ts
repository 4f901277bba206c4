import { describe, expect, it } from '@jest/globals'
import { costsOf } from '../rows/retries.ts'

describe('the cost of a scheduled retry', () => {
  const plain = { perCpuSecond: 10_000, cpuToTheEnd: 7 }
  const failing = { cpuToTheEnd: 7 + 0.15, refused: 1_000 }

  it('is the extra cost of a run with failures, less one attempt each', () => {
    expect(costsOf({ plain, failing, recorded: failing })).toMatchObject({
      attempt: 100,
      retry: expect.closeTo(50),
    })
  })

  it('does not include the records of the attempts, which have their own cost', () => {
    expect(costsOf({ plain, failing, recorded: { cpuToTheEnd: 7 + 0.19, refused: 1_000 } })).toMatchObject({
      retry: expect.closeTo(50),
      attemptRecords: expect.closeTo(40),
    })
  })

  it('has no result when the cost comes out negative', () => {
    const cheaper = { cpuToTheEnd: 7, refused: 1_000 }
    expect(costsOf({ plain, failing: cheaper, recorded: failing }).retry).toBeNaN()
    expect(costsOf({ plain, failing, recorded: cheaper }).attemptRecords).toBeNaN()
  })
})
