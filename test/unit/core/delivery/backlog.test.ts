import { describe, expect, it } from '@jest/globals'
import { backlogLimits } from '../../../../src/core/delivery/backlog.ts'

const mebibyte = 1024 * 1024

describe('backlogLimits', () => {
  it.each([
    [0, 512, { records: 1_000, bytes: 4 * mebibyte, span: 20_000, dueSoon: 1_000 }],
    [1, 512, { records: 1_000, bytes: 4 * mebibyte, span: 20_000, dueSoon: 1_000 }],
    [10, 512, { records: 200, bytes: 3_355_443, span: 20_000, dueSoon: 1_000 }],
    [10, 4_096, { records: 819, bytes: 3_355_443, span: 20_000, dueSoon: 1_000 }],
    [40, 512, { records: 50, bytes: 838_860, span: 20_000, dueSoon: 250 }],
    [240, 512, { records: 50, bytes: mebibyte / 2, span: 20_000, dueSoon: 41 }],
    [2_160, 512, { records: 50, bytes: mebibyte / 2, span: 20_000, dueSoon: 10 }],
  ])('of %i partitions with %i calls at once', (partitions, maxInFlight, limits) => {
    expect(backlogLimits(partitions, maxInFlight)).toEqual(limits)
  })

  it('leave a record for each call and another one, and bound what a process holds open', () => {
    for (const maxInFlight of [1, 512, 4_096])
      for (let partitions = 5; partitions <= 40; partitions++) {
        const all = partitions * (backlogLimits(partitions, maxInFlight).records + 1)
        expect(all).toBeGreaterThanOrEqual(Math.min(2 * maxInFlight, partitions * 1_000))
        expect(all).toBeLessThanOrEqual(Math.max(2_000, 2 * maxInFlight) + partitions)
      }
  })
})
