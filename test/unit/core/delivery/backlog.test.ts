import { describe, expect, it } from '@jest/globals'
import { backlogLimits } from '../../../../src/core/delivery/backlog.ts'

const mebibyte = 1024 * 1024

describe('backlogLimits', () => {
  it.each([
    [0, { records: 1_000, bytes: 4 * mebibyte, span: 20_000 }],
    [1, { records: 1_000, bytes: 4 * mebibyte, span: 20_000 }],
    [10, { records: 1_000, bytes: 3_355_443, span: 20_000 }],
    [40, { records: 250, bytes: 838_860, span: 20_000 }],
    [240, { records: 100, bytes: mebibyte / 2, span: 20_000 }],
  ])('of %i partitions', (partitions, limits) => {
    expect(backlogLimits(partitions)).toEqual(limits)
  })

  it('bound what a process holds open, however its partitions are dealt', () => {
    for (let partitions = 1; partitions <= 100; partitions++)
      expect(partitions * backlogLimits(partitions).records).toBeLessThanOrEqual(10_000)
  })
})
