import { randomUUID } from 'node:crypto'

export type Cancel = () => void

/** Clock, timers, random numbers and ids of the client. Tests replace them. */
export interface ClientClock {
  /** Unix time in milliseconds. It jumps when the time of the machine is corrected. */
  now(): number
  /** Monotonic time in milliseconds. */
  monotonic(): number
  /** Calls `run` after a delay. The timer does not keep the process alive. */
  after(delayMs: number, run: () => void): Cancel
  /** Keeps the process alive until the returned function is called. */
  keepAlive(): Cancel
  /** A random number >= 0 and < 1. */
  random(): number
  /** A new unique id. */
  id(): string
}

/**
 * The maximum delay of a Node timer, in milliseconds. A timer with a longer delay fires
 * immediately.
 */
export const longestTimerMs = 2 ** 31 - 1

export const processClock: ClientClock = {
  now: Date.now,
  monotonic: () => performance.now(),
  after(delayMs, run) {
    const timer = setTimeout(run, Math.min(delayMs, longestTimerMs)).unref()
    return () => clearTimeout(timer)
  },
  keepAlive() {
    const timer = setInterval(() => {}, longestTimerMs)
    return () => clearInterval(timer)
  },
  random: Math.random,
  id: () => randomUUID(),
}
