import { expect, it } from '@jest/globals'
import { CpuSaturation } from '../../../../src/core/flow/cpu-saturation.ts'

const never = Number.NEGATIVE_INFINITY

/**
 * `98%@1250` is a sample at 1,250 ms. The event loop was busy for 98 % of the time since the
 * previous sample.
 */
it.each<[string, string, number, number]>([
  ['never, while its event loop is idle at times', '50%@1250 97%@1500', 1_600, never],
  ['when its event loop was hardly idle', '98%@1250 50%@1500', 1_600, 1_250],
  ['until the last sample without idle time', '100%@1250 100%@1500 50%@1750', 1_800, 1_500],
  ['never, while samples are almost on time', '50%@1500', 2_000, never],
  ['when a sample was late, however idle it was', '50%@1501 0%@1751', 1_800, 1_501],
  ['now, when the next sample is overdue', '50%@1250', 1_751, 1_751],
  ['now, when the first sample is overdue', '', 1_501, 1_501],
])('a process was out of CPU %s', (_, looks, now, until) => {
  const cpu = new CpuSaturation(1_000)
  for (const look of looks.split(' ').filter(Boolean)) {
    const [busyPercent = 0, at = 0] = look.split('%@').map(Number)
    cpu.sample(at, busyPercent / 100)
  }
  expect(cpu.lastSaturatedAt(now)).toBe(until)
})
