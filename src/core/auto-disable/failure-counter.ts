import { isConclusive } from '../delivery/attempt-conclusive-for-breaker.ts'
import type { PermitFacts } from '../delivery/decide.ts'
import { isOfEndpoint, type Outcome } from '../delivery/outcomes-reasons-and-classification.ts'
import { type EpochMs, epochMs } from '../time.ts'

/** What an attempt shows about the endpoints of a destination. */
export type Evidence = 'works' | 'fails' | 'nothing'

/**
 * What an attempt shows about the endpoints. `works`: a request was delivered. `fails`: every
 * request failed because of its endpoint, and `isConclusive` is true. Otherwise `nothing`.
 */
export function evidenceOf(attempt: PermitFacts): Evidence {
  if (attempt.calls.some(({ outcome }) => outcome === 'delivered')) return 'works'
  const isFailure = isConclusive(attempt) && attempt.calls.every(({ outcome }) => isFailureOfEndpoint(outcome))
  return isFailure ? 'fails' : 'nothing'
}

/**
 * Whether an outcome is a failure of the endpoint. With `http_429` the endpoint works, `internal`
 * is a bug in Hookline, and `blocked_address` follows from Hookline's settings.
 */
const isFailureOfEndpoint = (outcome: Outcome): boolean =>
  isOfEndpoint(outcome) && outcome !== 'http_429' && outcome !== 'internal' && outcome !== 'blocked_address'

/**
 * The failures of a destination that one process has seen since it last wrote the destination's
 * failure state to the config topic. All processes share this state (`FailureState`).
 */
export interface SeenFailures {
  /** The number of failed attempts after `resetAt`. */
  readonly attempts: number
  /** Times of the first and the last failure after `resetAt`. */
  readonly firstAt: EpochMs
  readonly lastAt: EpochMs
  /** URL hashes of the webhooks that responded with 410 Gone after `resetAt`. */
  readonly gone: readonly string[]
  /**
   * When `FailureCounter.reset` was last called, for example after a success. If the failures in
   * the failure state began before this time, `judgeFailures` discards them, unless Hookline had
   * already disabled the destination.
   */
  readonly resetAt: EpochMs
}

/**
 * Counts the failures of one destination in this process. Times are those of the brokers' clock.
 */
export class FailureCounter {
  #attempts = 0
  #firstAt = never
  #lastAt = never
  #gone = new Set<string>()
  #resetAt = never
  #urlHashes: string | undefined

  get hasFailures(): boolean {
    return this.#attempts > 0 || this.#gone.size > 0
  }

  get resetAt(): EpochMs {
    return this.#resetAt
  }

  /**
   * Sets the webhooks whose failures are counted (`urlHashesOf`). When they change, the counted
   * failures are discarded.
   */
  setUrlHashes(urlHashes: string, now: EpochMs): void {
    if (this.#urlHashes !== undefined && this.#urlHashes !== urlHashes) this.reset(now)
    this.#urlHashes = urlHashes
  }

  failed(now: EpochMs): void {
    if (!this.hasFailures) this.#firstAt = now
    this.#attempts++
    this.#lastAt = now
  }

  gone(webhook: string, now: EpochMs): void {
    if (!this.hasFailures) this.#firstAt = now
    this.#gone.add(webhook)
    this.#lastAt = now
  }

  /**
   * Discards the counted failures. Called:
   * - after a success, or a change of webhook URLs;
   * - when the failure state is outdated (`isOutdated`);
   * - when a process has removed the failures from the failure state, for example after a success.
   */
  reset(now: EpochMs): void {
    this.#resetAt = now
    if (this.hasFailures) this.take()
  }

  take(): SeenFailures {
    const times = { firstAt: this.#firstAt, lastAt: this.#lastAt, resetAt: this.#resetAt }
    const seen = { attempts: this.#attempts, gone: [...this.#gone], ...times }
    this.#attempts = 0
    this.#gone = new Set()
    return seen
  }

  /**
   * Reverses `take` when the write to Kafka failed. Does nothing after `reset`, because the
   * failures are then outdated.
   */
  restore(seen: SeenFailures): void {
    if ((seen.attempts === 0 && seen.gone.length === 0) || this.#resetAt > seen.resetAt) return
    this.#firstAt = seen.firstAt
    this.#lastAt = epochMs(Math.max(this.#lastAt, seen.lastAt))
    this.#attempts += seen.attempts
    for (const webhook of seen.gone) this.#gone.add(webhook)
  }
}

const never = epochMs(Number.NEGATIVE_INFINITY)
