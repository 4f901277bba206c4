import type { EpochMs } from '../time.ts'
import type { Membership } from './membership.ts'
import { changeExpiry } from './unconfirmed-changes-bit-set.ts'

/**
 * Whether a destination has the desired value of a user.
 * - `acknowledged`: the destination has the value.
 * - `in_flight`: a change is being delivered.
 * - `unknown`: a change ended without a clear result, or an operator reset the audience.
 * - `different`: the destination has another value.
 */
export const syncStatuses = ['acknowledged', 'in_flight', 'unknown', 'different'] as const
export type SyncStatus = (typeof syncStatuses)[number]

/**
 * A change without a result is `in_flight` until `changeExpiry` after it was sent, and then
 * `unknown`.
 */
export function syncStatusOf({ desired, acknowledged, inFlight }: Membership, now: EpochMs): SyncStatus {
  if (inFlight !== undefined) return now - inFlight.since <= changeExpiry ? 'in_flight' : 'unknown'
  if (acknowledged === undefined) return 'unknown'
  return acknowledged === desired ? 'acknowledged' : 'different'
}
