import { type DurationMs, durationMs, type EpochMs } from '../units.ts'
import type { Membership } from './membership.ts'

/**
 * How a destination stands to what it should have. `acknowledged`: it has it. `in_flight`: a change is under way. `unknown`: a change ended
 * without anybody knowing what it has; the next sync tells it again. `different`: it has something else, because it is or was not on the
 * audience's list, or is disabled.
 */
export const syncStatuses = ['acknowledged', 'in_flight', 'unknown', 'different'] as const
export type SyncStatus = (typeof syncStatuses)[number]

/** `expiry`: after so long a change that was not heard of counts as undelivered, as in `StepContext`. */
export function syncStatusOf(
  { desired, acknowledged, inFlight }: Membership,
  { now, expiry }: { readonly now: EpochMs; readonly expiry: DurationMs },
): SyncStatus {
  if (inFlight !== undefined) return now - inFlight.since <= expiry ? 'in_flight' : 'unknown'
  if (acknowledged === undefined) return 'unknown'
  return acknowledged === desired ? 'acknowledged' : 'different'
}

/** So long after it was sent a change counts as undelivered when nothing was heard of it: no delivery takes longer than its window. */
export const changeExpiry = (window: DurationMs): DurationMs => durationMs(window + 3_600_000)
