import { flowLimits } from './flow-control-constants.ts'

const { neverSlowMs } = flowLimits.concurrency

/**
 * Measures the duration of one attempt at a time, to save memory. Times are monotonic milliseconds.
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

  ended(attempt: object, now: number): void {
    if (this.#measured !== attempt) return
    this.#measured = undefined
    this.#lastTookMs = now - this.#startedAt
  }

  /**
   * Whether the last measured attempt, and the one that is measured now, took at most
   * `neverSlowMs`.
   */
  isQuick(now: number): boolean {
    const takesMs = this.#measured === undefined ? 0 : now - this.#startedAt
    return Math.max(takesMs, this.#lastTookMs) <= neverSlowMs
  }
}
