import type { DeadLetterReason, Outcome } from '../delivery/outcomes-reasons-and-classification.ts'
import { type EpochMs, epochMs } from '../time.ts'
import { addCounts, type DestinationFacts, type DestinationHealth } from './destination-facts.ts'
import type { Notice } from './notice.ts'

type Kind = 'failing' | 'recovered' | 'gone' | 'dead_lettered'

/** Minimum milliseconds between two notices of one kind about one destination. */
const minIntervalMs = 60_000
/** Milliseconds until a webhook that still responds with 410 Gone is reported again. */
const goneAgainAfterMs = 3_600_000
/**
 * If no process reports `failing` for this time (ms), the next report causes a new notice. The
 * destination may have recovered in between: a process can end before it reports the recovery.
 */
const failingAgainAfterMs = 3_600_000

/*
 * A notice about the destination's health is due while `#health` differs from `#reportedHealth`.
 * So one outage causes one notice, even if several processes report facts about it.
 */

/**
 * Decides which notices about one destination are due, at most one of each kind per minute by the
 * brokers' clock.
 */
export class DestinationNotices {
  readonly #destination: string
  #health: DestinationHealth | undefined
  #reportedHealth: DestinationHealth | undefined
  #outcomes: readonly Outcome[] = []
  #failingSince: EpochMs | undefined
  /** The time of the last destination facts that reported `failing`. */
  #failingSeenAt = epochMs(Number.NEGATIVE_INFINITY)
  readonly #gone = new Set<string>()
  readonly #goneReportedAt = new Map<string, EpochMs>()
  #deadLetters: Partial<Record<DeadLetterReason, number>> = {}
  #deadLettersSince: EpochMs | undefined
  readonly #sentAt = new Map<Kind, EpochMs>()
  /** The message id of the last destination facts. */
  #factsId = ''
  #urlHashes = ''

  constructor(destination: string) {
    this.#destination = destination
  }

  /**
   * Sets the hashes of the webhooks' URLs (`urlHashesOf`). If they have changed, later 410
   * responses are reported again.
   */
  setUrlHashes(urlHashes: string): void {
    if (this.#urlHashes !== urlHashes) this.#goneReportedAt.clear()
    this.#urlHashes = urlHashes
  }

  observe({ health, outcomes, gone, deadLetters }: DestinationFacts, factsId: string, now: EpochMs): void {
    this.#factsId = factsId
    if (health === 'failing') this.#failing(outcomes, now)
    else if (health === 'recovered') this.#recovered(outcomes)
    for (const webhook of gone)
      if (isOver(this.#goneReportedAt.get(webhook), goneAgainAfterMs, now)) this.#gone.add(webhook)
    if (Object.keys(deadLetters).length > 0) this.#deadLettersSince ??= now
    addCounts(this.#deadLetters, deadLetters)
  }

  #recovered(outcomes: readonly Outcome[]): void {
    if (this.#health !== 'recovered') this.#outcomes = outcomes
    this.#health = 'recovered'
  }

  #failing(outcomes: readonly Outcome[], now: EpochMs): void {
    if (this.#health !== 'failing') {
      this.#failingSince = now
      this.#outcomes = outcomes
    } else if (isOver(this.#failingSeenAt, failingAgainAfterMs, now)) this.#reportedHealth = undefined
    this.#health = 'failing'
    this.#failingSeenAt = now
  }

  /** Returns the notices that are due and counts them as reported. */
  takeDue(now: EpochMs): readonly Notice[] {
    return [this.#dueHealth(now), this.#dueGone(now), this.#dueDeadLetters(now)].filter(notice => notice !== undefined)
  }

  /** Whether there are facts that no notice has reported yet. */
  get hasUnreported(): boolean {
    return this.#health !== this.#reportedHealth || this.#gone.size > 0 || this.#deadLettersSince !== undefined
  }

  /**
   * Returns and forgets the facts that no notice has reported. When the partition is revoked, the
   * caller writes these facts to the events topic. The next owner of the partition reports them. If
   * the revocation is cancelled, this process does.
   */
  takeUnreported(): DestinationFacts | undefined {
    if (!this.hasUnreported) return undefined
    const health = this.#health === this.#reportedHealth ? undefined : this.#health
    const unreported = { destination: this.#destination, health, outcomes: this.#outcomes, gone: [...this.#gone] }
    const deadLetters = this.#deadLetters
    this.#health = this.#reportedHealth
    this.#gone.clear()
    this.#deadLetters = {}
    this.#deadLettersSince = undefined
    return { ...unreported, deadLetters }
  }

  get #fromFacts() {
    return { destination: this.#destination, factsId: this.#factsId }
  }

  #dueHealth(now: EpochMs): Notice | undefined {
    const kind = this.#health
    if (kind === undefined || kind === this.#reportedHealth || !this.#maySend(kind, now)) return undefined
    this.#reportedHealth = kind
    const from = this.#fromFacts
    const outcomes = this.#outcomes
    if (kind === 'failing') return { kind, ...from, outcomes }
    const failingSince = this.#failingSince
    this.#failingSince = undefined
    return { kind, ...from, outcomes, failingSince }
  }

  #dueGone(now: EpochMs): Notice | undefined {
    if (this.#gone.size === 0 || !this.#maySend('gone', now)) return undefined
    const webhooks = [...this.#gone].sort()
    this.#gone.clear()
    for (const [webhook, at] of this.#goneReportedAt)
      if (isOver(at, goneAgainAfterMs, now)) this.#goneReportedAt.delete(webhook)
    for (const webhook of webhooks) this.#goneReportedAt.set(webhook, now)
    return { kind: 'gone', ...this.#fromFacts, webhooks }
  }

  #dueDeadLetters(now: EpochMs): Notice | undefined {
    const since = this.#deadLettersSince
    if (since === undefined || !this.#maySend('dead_lettered', now)) return undefined
    const reasons = this.#deadLetters
    this.#deadLetters = {}
    this.#deadLettersSince = undefined
    return { kind: 'dead_lettered', ...this.#fromFacts, reasons, since }
  }

  /**
   * Whether the last notice of this kind is at least a minute old. If so, counts a new one as sent.
   */
  #maySend(kind: Kind, now: EpochMs): boolean {
    if (!isOver(this.#sentAt.get(kind), minIntervalMs, now)) return false
    this.#sentAt.set(kind, now)
    return true
  }
}

/**
 * Whether `span` has passed since `since`. Also true when the clock was set back by `span`:
 * otherwise, a notice would wait until the clock passes `since` again.
 */
const isOver = (since: EpochMs | undefined, span: number, now: EpochMs): boolean =>
  since === undefined || Math.abs(now - since) >= span
