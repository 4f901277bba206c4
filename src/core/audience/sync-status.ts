import type { DurationMs, EpochMs } from '../time.ts'
import type { Membership } from './membership.ts'
import { unconfirmedForMs } from './unconfirmed-changes.ts'

/**
 * Whether a destination has the desired value of a user.
 * - `acknowledged`: the destination has the value.
 * - `in_flight`: a change is being delivered.
 * - `unknown`: a change ended without a clear result; the next sync sends the value again.
 * - `different`: the destination has another value, for example because it was disabled when the
 *   value changed.
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
 * Time after which a change without a result has the status `unknown`, and the next sync sends the
 * value again. A shorter time, for example one that depends on the retry window, is wrong: the
 * message of a change may wait for days before its first attempt. It waits in the events topic
 * while no dispatcher runs. It waits in a retry topic while the limits of its destination allow no
 * further request, and with `lifecycle.pauseKeepsWindow` while its destination is paused. Each sync
 * would send all waiting changes again, and two messages of one user could arrive in either order.
 */
export const changeExpiry: DurationMs = unconfirmedForMs
