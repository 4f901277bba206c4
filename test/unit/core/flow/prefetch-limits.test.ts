import { describe, expect, it } from '@jest/globals'
import { prefetchLimits } from '../../../../src/core/flow/prefetch-limits.ts'

const mebibyte = 1024 * 1024

describe('prefetchLimits', () => {
  it.each([
    [0, 512, 1_000, { records: 1_000, bytes: 4 * mebibyte, span: 20_000, dueSoonRecords: 1_000 }],
    [1, 256, 600, { records: 1_000, bytes: 4 * mebibyte, span: 20_000, dueSoonRecords: 1_000 }],
    [1, 512, 1_000, { records: 1_000, bytes: 4 * mebibyte, span: 20_000, dueSoonRecords: 1_000 }],
    [10, 512, 102, { records: 200, bytes: 3_355_443, span: 20_000, dueSoonRecords: 1_000 }],
    [10, 4_096, 819, { records: 819, bytes: 3_355_443, span: 20_000, dueSoonRecords: 1_000 }],
    [40, 512, 25, { records: 50, bytes: 838_860, span: 20_000, dueSoonRecords: 250 }],
    [240, 512, 25, { records: 50, bytes: mebibyte / 2, span: 20_000, dueSoonRecords: 41 }],
    [2_160, 512, 25, { records: 50, bytes: mebibyte / 2, span: 20_000, dueSoonRecords: 10 }],
  ])(
    'of %i partitions with %i concurrent requests: %i records while nothing is stalled',
    (partitions, maxInFlight, records, limits) => {
      expect(prefetchLimits(partitions, maxInFlight)).toEqual({ normal: { ...limits, records }, stalled: limits })
    },
  )

  it('leave one record per request and one more, and limit the records of a process', () => {
    for (const maxInFlight of [1, 512, 4_096])
      for (let partitions = 5; partitions <= 40; partitions++) {
        const { normal, stalled } = prefetchLimits(partitions, maxInFlight)
        const [near, far] = [normal, stalled].map(({ records }) => partitions * (records + 1)) as [number, number]
        expect(near).toBeGreaterThanOrEqual(Math.min(2 * maxInFlight, partitions * 1_000))
        expect(far).toBeGreaterThanOrEqual(near)
        expect(far).toBeLessThanOrEqual(Math.max(2_000, 2 * maxInFlight) + partitions)
      }
  })
})
