import { flowLimits } from './limits.ts'

/* Deliveries are counted over a minute, in steps: cheap enough to have one for every destination. */
const { stepMs, steps, minDeliveries, openAtShare, openForMs } = flowLimits.circuitBreaker

interface EndedAttempt {
  /** Without success, and with a failure that is retried. */
  readonly failed: boolean
  readonly wasProbe: boolean
  /** False: a live edit left only webhooks that had refused the delivery, or others hold the permits of one that was not called. */
  readonly isConclusive: boolean
}

/*
 * closed     attempts are made and counted. Ten or more in a minute, 70 % of them failed retryably: open.
 * open       for 30 s nothing is attempted, then one probe at a time. What is due beside it is deferred briefly and
 *            climbs no tier: what was deferred together is due together, and only one is the probe.
 *            The probe succeeds, or an attempt that was still in progress does: closed, nothing counted.
 *            The probe fails: open for 30 s more.
 */

/**
 * Stops the attempts of one destination while most of them fail. It counts deliveries, not calls:
 * four dead webhooks beside one that works are successes (A4.1). Times are monotonic milliseconds.
 */
export class CircuitBreaker {
  /** Delivered and failed of each step, side by side: with 1,000 destinations most reads miss the cache. */
  readonly #counts = new Uint32Array(2 * steps)
  /** The step that was counted in last. */
  #step = 0
  #openUntil: number | undefined
  #isProbing = false

  get isOpen(): boolean {
    return this.#openUntil !== undefined
  }

  /** Whether a probe is in progress. */
  get isProbing(): boolean {
    return this.#isProbing
  }

  /** Whether no attempt should begin now. */
  refuses(now: number): boolean {
    return this.#openUntil !== undefined && (now < this.#openUntil || this.#isProbing)
  }

  /** An attempt begins. Returns whether it is the probe: pass that to `ended`. */
  begins(now: number): boolean {
    const isProbe = this.#openUntil !== undefined && !this.refuses(now)
    if (isProbe) this.#isProbing = true
    return isProbe
  }

  /** An attempt has ended. One that is not conclusive says nothing of the endpoint: the next attempt is the probe. */
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
    if (failed && this.#mostFailed()) this.#openUntil = now + openForMs
  }

  #mostFailed(): boolean {
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

  /** Forgets the steps that are older than a minute. */
  #moveTo(step: number): void {
    for (let passed = Math.max(this.#step + 1, step - steps + 1); passed <= step; passed++) {
      this.#counts.fill(0, slotOf(passed), slotOf(passed) + 2)
    }
    this.#step = step
  }
}

const slotOf = (step: number): number => 2 * (step % steps)
