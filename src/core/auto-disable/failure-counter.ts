import { isConclusive } from '../delivery/attempt-conclusive-for-breaker.ts'
import type { PermitFacts } from '../delivery/decide.ts'
import { isOfEndpoint, type Outcome } from '../delivery/outcomes-reasons-and-classification.ts'
import { type EpochMs, epochMs } from '../time.ts'

/** What an attempt shows about the endpoints of a destination. */
export type Evidence = 'works' | 'fails' | 'nothing'

/**
 * What an attempt shows about the endpoints. `fails`: the attempt is conclusive, and every request
 * failed because of its endpoint.
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
 * The failures of a destination that one process has seen since it last wrote the failure state.
 */
export interface SeenFailures {
  /** The number of failed attempts after `endedAt`. */
  readonly attempts: number
  /** Times of the first and the last failure after `endedAt`. */
  readonly firstAt: EpochMs
  readonly lastAt: EpochMs
  /** URL hashes of the webhooks that responded with 410 Gone after `endedAt`. */
  readonly gone: readonly string[]
  /**
   * When `FailureCounter.ended` was last called. A failure state that began before this time must
   * end.
   */
  readonly endedAt: EpochMs
}

/**
 * Counts the failures of one destination in this process. Times are those of the brokers' clock.
 */
export class FailureCounter {
  #attempts = 0
  #firstAt = never
  #lastAt = never
  #gone = new Set<string>()
  #endedAt = never
  #urls: string | undefined

  get hasFailures(): boolean {
    return this.#attempts > 0 || this.#gone.size > 0
  }

  get endedAt(): EpochMs {
    return this.#endedAt
  }

  /**
   * Sets the webhooks whose failures are counted (`urlsOf`). When they change, the counted failures
   * are discarded.
   */
  setUrls(urls: string, now: EpochMs): void {
    if (this.#urls !== undefined && this.#urls !== urls) this.ended(now)
    this.#urls = urls
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

  /** Notes a success, or an outdated or empty failure state. Discards the counted failures. */
  ended(now: EpochMs): void {
    this.#endedAt = now
    if (this.hasFailures) this.take()
  }

  take(): SeenFailures {
    const times = { firstAt: this.#firstAt, lastAt: this.#lastAt, endedAt: this.#endedAt }
    const seen = { attempts: this.#attempts, gone: [...this.#gone], ...times }
    this.#attempts = 0
    this.#gone = new Set()
    return seen
  }

  /**
   * Reverses `take` when the write to Kafka failed. Does nothing after `ended`, because the
   * failures are then outdated.
   */
  restore(seen: SeenFailures): void {
    if ((seen.attempts === 0 && seen.gone.length === 0) || this.#endedAt > seen.endedAt) return
    this.#firstAt = seen.firstAt
    this.#lastAt = epochMs(Math.max(this.#lastAt, seen.lastAt))
    this.#attempts += seen.attempts
    for (const webhook of seen.gone) this.#gone.add(webhook)
  }
}

const never = epochMs(Number.NEGATIVE_INFINITY)
