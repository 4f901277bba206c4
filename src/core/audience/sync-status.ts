import { type DurationMs, durationMs, type EpochMs } from '../time.ts'
import type { Membership } from './membership.ts'

/**
 * Whether a destination has the desired value of a user.
 * - `acknowledged`: the destination has the value.
 * - `in_flight`: a change is being delivered.
 * - `unknown`: a change ended without a clear result; the next sync sends the value again.
 * - `different`: the destination has another value, for example because it was disabled, or not on
 *   the audience's list, when the value changed.
 */
export const syncStatuses = ['acknowledged', 'in_flight', 'unknown', 'different'] as const
export type SyncStatus = (typeof syncStatuses)[number]

/**
 * Returns the sync status of a membership. A change without a result has the status `in_flight`
 * until `expiry` after it was sent, and then `unknown`.
 */
export function syncStatusOf(
  { desired, acknowledged, inFlight }: Membership,
  { now, expiry }: { readonly now: EpochMs; readonly expiry: DurationMs },
): SyncStatus {
  if (inFlight !== undefined) return now - inFlight.since <= expiry ? 'in_flight' : 'unknown'
  if (acknowledged === undefined) return 'unknown'
  return acknowledged === desired ? 'acknowledged' : 'different'
}

/**
 * Time after which a change without a result has the status `unknown`: the retry window plus one
 * hour. The window begins when the dispatcher reads the message of the change, and limits when
 * retries begin. The hour leaves time for the message to reach the dispatcher, and for the last
 * attempt and its result.
 */
export const changeExpiry = (window: DurationMs): DurationMs => durationMs(window + 3_600_000)
