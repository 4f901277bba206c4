import { expect, it } from '@jest/globals'
import { slowIfAdmittedBefore } from '../../../../src/core/flow/slow-queue-threshold.ts'

it.each([
  { name: 'is a second when the process always had free CPU', cpuSaturatedUntil: Number.NEGATIVE_INFINITY, ms: 1_000 },
  {
    name: 'is ten seconds when other destinations hold the permits',
    cpuSaturatedUntil: Number.NEGATIVE_INFINITY,
    lacksPermits: true,
    ms: 10_000,
  },
  { name: 'is a second when it had free CPU for a second', cpuSaturatedUntil: 99_000, ms: 1_000 },
  { name: 'is ten seconds when it had free CPU for less', cpuSaturatedUntil: 99_001, ms: 10_000 },
  { name: 'is ten seconds when it has no free CPU', cpuSaturatedUntil: 100_000, ms: 10_000 },
])('the wait that shows a slow destination $name', ({ cpuSaturatedUntil, lacksPermits = false, ms }) => {
  expect(100_000 - slowIfAdmittedBefore(100_000, cpuSaturatedUntil, lacksPermits)).toBe(ms)
})
