import { describe, expect, it } from '@jest/globals'
import { backlogLimits, slowSince } from '../../../../src/core/delivery/backlog.ts'

const mebibyte = 1024 * 1024

describe('backlogLimits', () => {
  it.each([
    [0, 512, 1_000, { records: 1_000, bytes: 4 * mebibyte, span: 20_000, dueSoon: 1_000 }],
    [1, 256, 600, { records: 1_000, bytes: 4 * mebibyte, span: 20_000, dueSoon: 1_000 }],
    [1, 512, 1_000, { records: 1_000, bytes: 4 * mebibyte, span: 20_000, dueSoon: 1_000 }],
    [10, 512, 102, { records: 200, bytes: 3_355_443, span: 20_000, dueSoon: 1_000 }],
    [10, 4_096, 819, { records: 819, bytes: 3_355_443, span: 20_000, dueSoon: 1_000 }],
    [40, 512, 25, { records: 50, bytes: 838_860, span: 20_000, dueSoon: 250 }],
    [240, 512, 25, { records: 50, bytes: mebibyte / 2, span: 20_000, dueSoon: 41 }],
    [2_160, 512, 25, { records: 50, bytes: mebibyte / 2, span: 20_000, dueSoon: 10 }],
  ])(
    'of %i partitions with %i calls at once: %i records while all gets on',
    (partitions, maxInFlight, records, limits) => {
      expect(backlogLimits(partitions, maxInFlight)).toEqual({
        whileAllGetsOn: { ...limits, records },
        whileClogged: limits,
      })
    },
  )

  it('leave a record for each call and another one, and bound what a process holds open', () => {
    for (const maxInFlight of [1, 512, 4_096])
      for (let partitions = 5; partitions <= 40; partitions++) {
        const { whileAllGetsOn, whileClogged } = backlogLimits(partitions, maxInFlight)
        const [near, far] = [whileAllGetsOn, whileClogged].map(({ records }) => partitions * (records + 1)) as [
          number,
          number,
        ]
        expect(near).toBeGreaterThanOrEqual(Math.min(2 * maxInFlight, partitions * 1_000))
        expect(far).toBeGreaterThanOrEqual(near)
        expect(far).toBeLessThanOrEqual(Math.max(2_000, 2 * maxInFlight) + partitions)
      }
  })
})

it.each([
  { name: 'is a second where the process has always had CPU left', outOfCpuUntil: Number.NEGATIVE_INFINITY, ms: 1_000 },
  { name: 'is a second where it has had for as long', outOfCpuUntil: 99_000, ms: 1_000 },
  { name: 'is ten where it had none in between', outOfCpuUntil: 99_001, ms: 10_000 },
  { name: 'is ten where it has none', outOfCpuUntil: 100_000, ms: 10_000 },
])('the wait that shows a slow lane $name', ({ outOfCpuUntil, ms }) => {
  expect(100_000 - slowSince(100_000, outOfCpuUntil)).toBe(ms)
})
