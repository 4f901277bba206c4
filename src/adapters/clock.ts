import { randomUUID } from 'node:crypto'
import type { Clock } from '../core/ports.ts'
import { epochMs } from '../core/units.ts'

/** The longest delay that a Node timer takes; above it would fire at once. */
const longestTimerMs = 2 ** 31 - 1

export const systemClock: Clock = {
  now: () => epochMs(Date.now()),
  monotonic: () => performance.now(),
  after(delay, run) {
    const timer = setTimeout(run, Math.min(delay, longestTimerMs))
    return () => clearTimeout(timer)
  },
  id: () => randomUUID(),
}
