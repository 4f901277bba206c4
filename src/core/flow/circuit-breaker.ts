import { flowLimits } from './flow-control-constants.ts'

/*
 * A circuit breaker counts the attempts of the last `steps` time steps of `stepMs` milliseconds.
 * The counts take less memory than a list of attempts for every destination.
 */
const { stepMs, steps, minDeliveries, openAtShare, openForMs } = flowLimits.circuitBreaker

interface EndedAttempt {
  /** Whether the attempt had no success and at least one retryable failure. */
  readonly failed: boolean
  readonly wasProbe: boolean
  /**
   * Whether the attempt shows if the endpoints work (`attempt-conclusive-for-breaker.ts`). The
   * circuit breaker ignores other attempts.
   */
  readonly isConclusive: boolean
}

/*
 * closed: Attempts are counted. If at least ten attempts end in one minute, and 70 % of them fail,
 *         the circuit breaker opens.
 * open:   No attempt is made for 30 s, and then one probe at a time. Other due deliveries are
 *         deferred.
 *         - If the probe does not fail, the circuit breaker closes and clears its counters. The
 *           same happens if an attempt from before the opening ends without failing.
 *         - If the probe fails, the circuit breaker stays open for another 30 s.
 */

/**
 * Stops the attempts at one destination while at least 70 % of them fail. Times are monotonic
 * milliseconds.
 */
export class CircuitBreaker {
  /**
   * For each step, the number of attempts that did not fail, and the number that failed. One array
   * saves cache misses.
   */
  readonly #counts = new Uint32Array(2 * steps)
  /** The number of the step in which the last counted attempt ended. */
  #step = 0
  #openUntil: number | undefined
  #hasOpened = false
  #isProbing = false

  get isOpen(): boolean {
    return this.#openUntil !== undefined
  }

  get hasOpened(): boolean {
    return this.#hasOpened
  }

  /**
   * When the next attempt may be made as a probe; `undefined` while the circuit breaker is closed.
   */
  get openUntil(): number | undefined {
    return this.#openUntil
  }

  get isProbing(): boolean {
    return this.#isProbing
  }

  refuses(now: number): boolean {
    return this.#openUntil !== undefined && (now < this.#openUntil || this.#isProbing)
  }

  /**
   * Notes that an attempt begins. Returns whether it is the probe; the caller passes the result to
   * `ended`.
   */
  begins(now: number): boolean {
    const isProbe = this.#openUntil !== undefined && !this.refuses(now)
    if (isProbe) this.#isProbing = true
    return isProbe
  }

  /**
   * Notes that an attempt has ended. After a probe that is not conclusive, the next attempt is
   * another probe.
   */
  ended(attempt: EndedAttempt, now: number): void {
    if (attempt.wasProbe) this.#isProbing = false
    if (!attempt.isConclusive) return
    if (this.#openUntil === undefined) return this.#count(attempt.failed, now)
    if (!attempt.failed) this.#close()
    else if (attempt.wasProbe) this.#openUntil = now + openForMs
  }

  #count(failed: boolean, now: number): void {
    this.#moveTo(Math.floor(now / stepMs))
    const slot = slotOf(this.#step) + (failed ? 1 : 0)
    this.#counts[slot] = (this.#counts[slot] ?? 0) + 1
    if (!failed || !this.#exceedsFailureShare()) return
    this.#openUntil = now + openForMs
    this.#hasOpened = true
  }

  #exceedsFailureShare(): boolean {
    let [all, failures] = [0, 0]
    for (let step = 0; step < steps; step++) {
      const failed = this.#counts[slotOf(step) + 1] ?? 0
      failures += failed
      all += failed + (this.#counts[slotOf(step)] ?? 0)
    }
    return all >= minDeliveries && failures >= all * openAtShare
  }

  #close(): void {
    this.#openUntil = undefined
    this.#counts.fill(0)
  }

  #moveTo(step: number): void {
    for (let passed = Math.max(this.#step + 1, step - steps + 1); passed <= step; passed++) {
      this.#counts.fill(0, slotOf(passed), slotOf(passed) + 2)
    }
    this.#step = step
  }
}

const slotOf = (step: number): number => 2 * (step % steps)
