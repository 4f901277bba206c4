import { randomUUID } from 'node:crypto'
import { uptime } from 'node:os'
import type { Clock } from '../../core/ports.ts'
import { createBootTime, createBrokerAlignedClock } from './broker-aligned-clock.ts'

/** The longest delay of a Node timer, in milliseconds. A longer delay fires immediately. */
const longestTimerMs = 2 ** 31 - 1

const sources = { wall: () => Date.now(), monotonic: () => performance.now(), uptime: () => uptime() * 1_000 }

/** The time that all parts of this process share. */
export const processTime = createBrokerAlignedClock(sources)

export const processClock: Clock = {
  now: processTime.now,
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
