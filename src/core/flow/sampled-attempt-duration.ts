import { flowLimits } from './limits.ts'

const { neverSlowMs } = flowLimits.concurrency

/**
 * Measures how long attempts at one destination take. To save memory, it measures one attempt at a
 * time: when the measured attempt has ended, it measures the next one that starts. Times are
 * monotonic milliseconds.
 */
export class AttemptSample {
  #measured: object | undefined
  #startedAt = 0
  #lastTookMs = 0

  /** Notes that an attempt has started. The caller passes the same object `attempt` to `ended`. */
  started(attempt: object, now: number): void {
    if (this.#measured !== undefined) return
    this.#measured = attempt
    this.#startedAt = now
  }

  /** Notes that an attempt has ended. */
  ended(attempt: object, now: number): void {
    if (this.#measured !== attempt) return
    this.#measured = undefined
    this.#lastTookMs = now - this.#startedAt
  }

  /**
   * Whether the last measured attempt took at most `neverSlowMs`, and the attempt that is measured
   * now has not taken longer. Before the first attempt, the answer is true.
   */
  isQuick(now: number): boolean {
    const takesMs = this.#measured === undefined ? 0 : now - this.#startedAt
    return Math.max(takesMs, this.#lastTookMs) <= neverSlowMs
  }
}
