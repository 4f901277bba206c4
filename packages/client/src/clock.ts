import { randomUUID } from 'node:crypto'

export type Cancel = () => void

/** Time and chance as the client sees them. */
export interface ClientClock {
  /** Milliseconds since 1970; may jump. */
  now(): number
  /** Milliseconds that only ever grow. */
  monotonic(): number
  /** Does not keep the process alive. */
  after(delayMs: number, run: () => void): Cancel
  /** Keeps the process alive until it is cancelled. */
  hold(): Cancel
  /** From 0 to below 1. */
  random(): number
  /** A new unique id. */
  id(): string
}

/** The longest delay that a Node timer takes; above it would fire at once. */
export const longestTimerMs = 2 ** 31 - 1

export const systemClock: ClientClock = {
  now: Date.now,
  monotonic: () => performance.now(),
  after(delayMs, run) {
    const timer = setTimeout(run, Math.min(delayMs, longestTimerMs)).unref()
    return () => clearTimeout(timer)
  },
  hold() {
    const timer = setInterval(() => {}, longestTimerMs)
    return () => clearInterval(timer)
  },
  random: Math.random,
  id: () => randomUUID(),
}
