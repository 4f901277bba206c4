import type { DeadLetter, InstallationStatus } from '../../api/response-types.ts'
import { hasDestination } from '../dead-letters/dead-letter-filters.ts'

/** A destination with an open circuit breaker or with new dead letters. */
export interface FailingDestination {
  readonly id: string
  readonly hasOpenBreaker: boolean
  /**
   * Number of the destination's dead letters in the last hour, among the newest 100 dead letters of
   * all destinations.
   */
  readonly deadLetters: number
  /** The reason of its newest dead letter. */
  readonly reason?: string
  /** The time of its newest dead letter. */
  readonly lastAt?: string
}

/**
 * Returns the failing destinations: first those with an open circuit breaker, then those with the
 * most dead letters.
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
