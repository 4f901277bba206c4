import { expect, it } from '@jest/globals'
import { CpuSaturation } from '../../../../src/core/flow/cpu-saturation.ts'

const never = Number.NEGATIVE_INFINITY

it.each([
  {
    name: 'never, while its event loop is idle at times',
    looks: [
      [1_250, 0.5],
      [1_500, 0.97],
    ],
    now: 1_600,
    until: never,
  },
  {
    name: 'when its event loop was hardly idle',
    looks: [
      [1_250, 0.98],
      [1_500, 0.5],
    ],
    now: 1_600,
    until: 1_250,
  },
  {
    name: 'until the last sample without idle time',
    looks: [
      [1_250, 1],
      [1_500, 1],
      [1_750, 0.5],
    ],
    now: 1_800,
    until: 1_500,
  },
  { name: 'never, while samples are almost on time', looks: [[1_500, 0.5]], now: 2_000, until: never },
  {
    name: 'when a sample was late, however idle it was',
    looks: [
      [1_501, 0.5],
      [1_751, 0],
    ],
    now: 1_800,
    until: 1_501,
  },
  { name: 'now, when the next sample is overdue', looks: [[1_250, 0.5]], now: 1_751, until: 1_751 },
  { name: 'now, when the first sample is overdue', looks: [], now: 1_501, until: 1_501 },
] as { name: string; looks: [number, number][]; now: number; until: number }[])(
  'a process was out of CPU $name',
  ({ looks, now, until }) => {
    const cpu = new CpuSaturation(1_000)
    for (const [at, busyShare] of looks) cpu.sample(at, busyShare)
    expect(cpu.until(now)).toBe(until)
  },
)
