import { randomUUID } from 'node:crypto'
import { uptime } from 'node:os'
import type { Clock } from '../../core/ports.ts'
import { createBootTime, createSteadyTime } from './monotonic-clock.ts'

/** The longest delay that a Node timer takes; above it would fire at once. */
const longestTimerMs = 2 ** 31 - 1

const sources = { wall: () => Date.now(), monotonic: () => performance.now(), uptime: () => uptime() * 1_000 }

/** One for the process: all that is told of one moment has the same time. */
export const systemTime = createSteadyTime(sources)

export const systemClock: Clock = {
  now: systemTime.now,
  monotonic: sources.monotonic,
  boottime: createBootTime(sources),
  after(delay, run) {
    const timer = setTimeout(run, Math.min(delay, longestTimerMs))
    return () => clearTimeout(timer)
  },
  soon(run) {
    const immediate = setImmediate(run)
    return () => clearImmediate(immediate)
  },
  id: () => randomUUID(),
}
