import { expect, it } from '@jest/globals'
import { slowSince } from '../../../../src/core/flow/spillover.ts'

it.each([
  {
    name: 'is a second where the process has always had CPU left',
    cpuSaturatedUntil: Number.NEGATIVE_INFINITY,
    ms: 1_000,
  },
  { name: 'is a second where it has had for as long', cpuSaturatedUntil: 99_000, ms: 1_000 },
  { name: 'is ten where it had none in between', cpuSaturatedUntil: 99_001, ms: 10_000 },
  { name: 'is ten where it has none', cpuSaturatedUntil: 100_000, ms: 10_000 },
])('the wait that shows a slow destination $name', ({ cpuSaturatedUntil, ms }) => {
  expect(100_000 - slowSince(100_000, cpuSaturatedUntil)).toBe(ms)
})
