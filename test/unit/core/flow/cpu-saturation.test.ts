import { expect, it } from '@jest/globals'
import { CpuSaturation } from '../../../../src/core/flow/cpu-saturation.ts'

const never = Number.NEGATIVE_INFINITY

it.each([
  {
    name: 'never, while it waits now and then',
    looks: [
      [1_250, 0.5],
      [1_500, 0.97],
    ],
    now: 1_600,
    until: never,
  },
  {
    name: 'when it hardly ever waited',
    looks: [
      [1_250, 0.98],
      [1_500, 0.5],
    ],
    now: 1_600,
    until: 1_250,
  },
  {
    name: 'until the last such look',
    looks: [
      [1_250, 1],
      [1_500, 1],
      [1_750, 0.5],
    ],
    now: 1_800,
    until: 1_500,
  },
  { name: 'never, while it looks nearly in time', looks: [[1_500, 0.5]], now: 2_000, until: never },
  {
    name: 'when it looked late, however much it waited',
    looks: [
      [1_501, 0.5],
      [1_751, 0],
    ],
    now: 1_800,
    until: 1_501,
  },
  { name: 'now, when the next look is overdue', looks: [[1_250, 0.5]], now: 1_751, until: 1_751 },
  { name: 'now, when the first look is overdue', looks: [], now: 1_501, until: 1_501 },
] as { name: string; looks: [number, number][]; now: number; until: number }[])(
  'a process was out of CPU $name',
  ({ looks, now, until }) => {
    const cpu = new CpuSaturation(1_000)
    for (const [at, busyShare] of looks) cpu.sample(at, busyShare)
    expect(cpu.until(now)).toBe(until)
  },
)
