import type { DeadLetterReason, Outcome } from '../../core/delivery/outcomes-reasons-and-classification.ts'
import { addCounts, type DestinationFacts, type DestinationHealth } from '../../core/notices/destination-facts.ts'
import type { Webhook } from '../../core/settings/settings.ts'

/** Receives facts about destinations. The calls are cheap and never throw. */
export interface DestinationObserver {
  /**
   * Called when an attempt has opened or closed a circuit breaker. `outcomes` has the outcomes of
   * the attempt's requests.
   */
  breakerOpened(destination: string, outcomes: readonly Outcome[]): void
  breakerClosed(destination: string, outcomes: readonly Outcome[]): void
  /** Called when the endpoint of a webhook responded with 410 Gone. */
  gone(destination: string, webhook: Pick<Webhook, 'label' | 'urlHash'>): void
  deadLettered(destination: string, reason: DeadLetterReason): void
}

interface Facts {
  health: DestinationHealth | undefined
  outcomes: readonly Outcome[]
  readonly gone: Set<string>
  readonly deadLetters: Partial<Record<DeadLetterReason, number>>
}

/** Collects the facts that this process sees about destinations, in one entry per destination. */
export class CollectedFacts implements DestinationObserver {
  readonly #isObserved: (destination: string) => boolean
  readonly #facts = new Map<string, Facts>()

  /** Facts about a destination are ignored while `isObserved` returns false for it. */
  constructor(isObserved: (destination: string) => boolean) {
    this.#isObserved = isObserved
  }

  breakerOpened(destination: string, outcomes: readonly Outcome[]): void {
    this.#changeHealth(destination, 'failing', outcomes)
  }

  breakerClosed(destination: string, outcomes: readonly Outcome[]): void {
    this.#changeHealth(destination, 'recovered', outcomes)
  }

  gone(destination: string, { label }: Pick<Webhook, 'label'>): void {
    this.#of(destination)?.gone.add(label)
  }

  deadLettered(destination: string, reason: DeadLetterReason): void {
    const facts = this.#of(destination)
    if (facts !== undefined) addCounts(facts.deadLetters, { [reason]: 1 })
  }

  /** Removes and returns the facts of at most `limit` destinations, oldest first. */
  take(limit: number): readonly DestinationFacts[] {
    const taken: DestinationFacts[] = []
    for (const [destination, { health, outcomes, gone, deadLetters }] of this.#facts) {
      if (taken.length >= limit) break
      this.#facts.delete(destination)
      const isEmpty = health === undefined && gone.size === 0 && Object.keys(deadLetters).length === 0
      if (!isEmpty) taken.push({ destination, health, outcomes, gone: [...gone], deadLetters })
    }
    return taken
  }

  clear(): void {
    this.#facts.clear()
  }

  /**
   * Notes that a circuit breaker opened or closed. If it does both between two calls of `take`,
   * nothing is reported.
   */
  #changeHealth(destination: string, health: DestinationHealth, outcomes: readonly Outcome[]): void {
    const facts = this.#of(destination)
    if (facts === undefined) return
    facts.health = facts.health === undefined ? health : undefined
    facts.outcomes = facts.health === undefined ? [] : outcomes
  }

  #of(destination: string): Facts | undefined {
    if (!this.#isObserved(destination)) return undefined
    const known = this.#facts.get(destination)
    if (known !== undefined) return known
    const facts: Facts = { health: undefined, outcomes: [], gone: new Set(), deadLetters: {} }
    this.#facts.set(destination, facts)
    return facts
  }
}
