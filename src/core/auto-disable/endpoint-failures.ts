import { isOfEndpoint, type Outcome } from '../delivery/classify-outcome.ts'
import { isConclusive } from '../delivery/conclusive-attempt.ts'
import type { Attempt } from '../delivery/decide.ts'
import { type EpochMs, epochMs } from '../time.ts'

/** What an attempt shows about the endpoints of a destination. `nothing`: it does not count. */
export type Evidence = 'works' | 'fails' | 'nothing'

/**
 * Reads the evidence in an attempt. A failure counts only when every request reached the endpoint,
 * or when the endpoint is the cause that it did not. A 429 does not count: the endpoint works, and
 * asks for fewer requests.
 */
export function evidenceOf(attempt: Pick<Attempt, 'calls' | 'isHeldUpByOthers'>): Evidence {
  if (attempt.calls.some(({ outcome }) => outcome === 'delivered')) return 'works'
  const isFailure = isConclusive(attempt) && attempt.calls.every(({ outcome }) => isFailureOfEndpoint(outcome))
  return isFailure ? 'fails' : 'nothing'
}

/** `internal` is a bug in Hookline, and `blocked_address` follows from its settings. */
const isFailureOfEndpoint = (outcome: Outcome): boolean =>
  isOfEndpoint(outcome) && outcome !== 'http_429' && outcome !== 'internal' && outcome !== 'blocked_address'

/** What one process has seen of a destination since it last wrote about it. */
export interface SeenFailures {
  /** Failed attempts after `endedAt`. */
  readonly attempts: number
  /** When the first and the last of them failed. */
  readonly firstAt: EpochMs
  readonly lastAt: EpochMs
  /** Labels of the webhooks that responded with 410 Gone after `endedAt`. */
  readonly gone: readonly string[]
  /**
   * When a delivery last succeeded, or when the destination was last seen paused or disabled. It is
   * kept: another process may report failures from before this time later.
   */
  readonly endedAt: EpochMs
}

/** Counts the failures of one destination in this process. Times are of the brokers' clock. */
export class FailureCounter {
  #attempts = 0
  #firstAt = never
  #lastAt = never
  #gone = new Set<string>()
  #endedAt = never

  /** Whether there are failures that were not taken. */
  get hasFailures(): boolean {
    return this.#attempts > 0 || this.#gone.size > 0
  }

  get endedAt(): EpochMs {
    return this.#endedAt
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

  /** A delivery succeeded, or the destination is paused or disabled: earlier failures do not count. */
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

  /** Adds failures that were taken and could not be written. */
  restore(seen: SeenFailures): void {
    if ((seen.attempts === 0 && seen.gone.length === 0) || this.#endedAt > seen.endedAt) return
    this.#firstAt = seen.firstAt
    this.#lastAt = epochMs(Math.max(this.#lastAt, seen.lastAt))
    this.#attempts += seen.attempts
    for (const webhook of seen.gone) this.#gone.add(webhook)
  }
}

const never = epochMs(Number.NEGATIVE_INFINITY)
