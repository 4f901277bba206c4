import { randomUUID } from 'node:crypto'
import { uptime } from 'node:os'
import type { Clock } from '../../core/ports.ts'
import { createBootTime, createMonotonicClock } from './monotonic-clock.ts'

/** The longest delay that a Node timer supports. With a longer one it would fire immediately. */
const longestTimerMs = 2 ** 31 - 1

const sources = { wall: () => Date.now(), monotonic: () => performance.now(), uptime: () => uptime() * 1_000 }

/**
 * The time of this process, shared by all its parts, so that one moment has one time everywhere.
 */
export const systemTime = createMonotonicClock(sources)

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
