import type { DeadLetter, InstallationStatus } from '../../api/response-types.ts'
import { hasDestination } from '../dead-letters/dead-letter-filters-and-inputs.ts'

/** A destination with an open circuit breaker or with new dead letters. */
export interface FailingDestination {
  readonly id: string
  readonly hasOpenBreaker: boolean
  /**
   * Number of dead letters of this destination in the last hour, among the newest 100 dead letters
   * of the installation.
   */
  readonly deadLetters: number
  /** The reason of the newest dead letter of this destination. */
  readonly reason?: string
  /** The time of the newest dead letter of this destination. */
  readonly lastAt?: string
}

/**
 * The destinations with an open circuit breaker or with dead letters. Destinations with an open
 * circuit breaker come first, then destinations with the largest number of dead letters.
 */
export function failingDestinations(
  status: Pick<InstallationStatus, 'openBreakers'> | undefined,
  deadLetters: readonly DeadLetter[],
): readonly FailingDestination[] {
  const byId = new Map<string, FailingDestination>()
  for (const id of status?.openBreakers ?? []) byId.set(id, { id, hasOpenBreaker: true, deadLetters: 0 })
  for (const { destination: id, reason, at } of deadLetters) {
    if (!hasDestination(id)) continue
    const known = byId.get(id) ?? { id, hasOpenBreaker: false, deadLetters: 0 }
    const newest = known.lastAt === undefined || at > known.lastAt ? { reason, lastAt: at } : {}
    byId.set(id, { ...known, deadLetters: known.deadLetters + 1, ...newest })
  }
  return [...byId.values()].sort(
    (a, b) =>
      Number(b.hasOpenBreaker) - Number(a.hasOpenBreaker) || b.deadLetters - a.deadLetters || (a.id < b.id ? -1 : 1),
  )
}
