import type { Clock } from '../../src/core/ports.ts'
import { type EpochMs, epochMs } from '../../src/core/time.ts'

interface Timer {
  readonly at: number
  readonly run: () => void
}

/** Resolves after this number of iterations of the event loop. */
export async function turns(count = 1): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise(resolve => setImmediate(resolve))
}

/** A clock that only the test moves. */
export class ManualClock implements Clock {
  #now: number
  #wallAhead = 0
  #suspended = 0
  #ids = 0
  readonly #timers = new Set<Timer>()
  readonly #startedAt: number

  constructor(start = Date.parse('2026-03-01T00:00:00.000Z')) {
    this.#now = start
    this.#startedAt = start
  }

  now(): EpochMs {
    return epochMs(Math.floor(this.#now + this.#wallAhead))
  }

  /** Sets the wall clock forward, or back if `ms` is negative. */
  step(ms: number): void {
    this.#wallAhead += ms
  }

  monotonic(): number {
    return this.#now - this.#startedAt
  }

  boottime(): number {
    return this.monotonic() + this.#suspended
  }

  /** Suspends the machine: its timers and its monotonic clock stop, but not its wall clock. */
  suspend(ms: number): void {
    this.#suspended += ms
    this.#wallAhead += ms
  }

  after(delay: number, run: () => void): () => void {
    const timer = { at: this.#now + delay, run }
    this.#timers.add(timer)
    return () => void this.#timers.delete(timer)
  }

  /** Calls `run` in the next iteration of the event loop, even if the clock does not move. */
  soon(run: () => void): () => void {
    const immediate = setImmediate(run)
    return () => clearImmediate(immediate)
  }

  id(): string {
    return `id-${++this.#ids}`
  }

  get timers(): number {
    return this.#timers.size
  }

  /**
   * Runs each due timer at its own time. Before each timer and at the end, `settle` waits for other
   * work.
   */
  async advance(ms: number, settle: () => Promise<void> = async () => {}): Promise<void> {
    const end = this.#now + ms
    await settle()
    for (;;) {
      const next = this.#earliest()
      if (next === undefined || next.at > end) break
      this.#timers.delete(next)
      this.#now = Math.max(this.#now, next.at)
      next.run()
      await settle()
    }
    this.#now = end
    await settle()
  }

  /** The timer that is due first. Of several with the same time, the one that was set first. */
  #earliest(): Timer | undefined {
    let earliest: Timer | undefined
    for (const timer of this.#timers) if (earliest === undefined || timer.at < earliest.at) earliest = timer
    return earliest
  }
}
