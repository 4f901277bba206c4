import { flowLimits } from './limits.ts'

/*
 * Attempts are counted in a window of one minute, which has twelve steps of 5 s. Counters for each
 * step, instead of a list of attempts, take little memory. So every destination can have a circuit
 * breaker.
 */
const { stepMs, steps, minDeliveries, openAtShare, openForMs } = flowLimits.circuitBreaker

interface EndedAttempt {
  /** Whether the attempt had no success and at least one retryable failure. */
  readonly failed: boolean
  readonly wasProbe: boolean
  /**
   * Whether the attempt is conclusive: it shows that the endpoints work, or that they fail (see
   * `isConclusive` in `attempt-conclusive-for-breaker.ts`). The circuit breaker ignores all other
   * attempts.
   */
  readonly isConclusive: boolean
}

/*
 * closed: Attempts are made and counted. When at least ten attempts ended in one minute and at
 *         least 70 % of them failed (see `failed`), the circuit breaker opens.
 * open:   No attempt is made for 30 s. Then one probe at a time is made. Other deliveries that
 *         become due during a probe are deferred for 10 s, because only one delivery can be the
 *         probe.
 *         - If the probe does not fail, the circuit breaker closes and clears its counters. The
 *           same happens if an attempt that began before the opening ends without failing.
 *         - If the probe fails, the circuit breaker stays open for another 30 s.
 */

/**
 * Stops the attempts at one destination while at least 70 % of them fail. It counts attempts, not
 * requests: an attempt with one success and four failed webhooks is a success. Times are monotonic
 * milliseconds.
 */
export class CircuitBreaker {
  /**
   * Two counters for each step of 5 s: attempts that did not fail, and attempts that failed. All
   * counters share one array: with 1,000 destinations, two arrays for each circuit breaker would
   * cost more cache misses.
   */
  readonly #counts = new Uint32Array(2 * steps)
  /**
   * The number of the step in which the last counted attempt ended: the end time of the attempt,
   * divided by the length of a step.
   */
  #step = 0
  #openUntil: number | undefined
  #hasOpened = false
  #isProbing = false

  get isOpen(): boolean {
    return this.#openUntil !== undefined
  }

  /** Whether the circuit breaker has opened since the process started. */
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

  /** Whether the circuit breaker forbids the start of an attempt now. */
  refuses(now: number): boolean {
    return this.#openUntil !== undefined && (now < this.#openUntil || this.#isProbing)
  }

  /**
   * Notes that an attempt begins. Returns whether the attempt is the probe of an open circuit
   * breaker. The caller passes the result to `ended` as `wasProbe`.
   */
  begins(now: number): boolean {
    const isProbe = this.#openUntil !== undefined && !this.refuses(now)
    if (isProbe) this.#isProbing = true
    return isProbe
  }

  /**
   * Notes that an attempt has ended. An attempt that is not conclusive (does not show whether the
   * endpoints work) is not counted. After a probe that is not conclusive, the circuit breaker stays
   * open, and the next attempt is the probe.
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

  /** Moves the window to this step: clears the counters of steps that are older than one minute. */
  #moveTo(step: number): void {
    for (let passed = Math.max(this.#step + 1, step - steps + 1); passed <= step; passed++) {
      this.#counts.fill(0, slotOf(passed), slotOf(passed) + 2)
    }
    this.#step = step
  }
}

const slotOf = (step: number): number => 2 * (step % steps)
