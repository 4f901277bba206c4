import { flowLimits } from '../flow/flow-control-constants.ts'
import { type DurationMs, durationMs, type EpochMs, epochMs } from '../time.ts'
import { type Decision, defer } from './decide.ts'
import type { DeliveryState } from './delivery-state.ts'
import type { RetryPolicy } from './retry-tier.ts'

const { turnValidMs, maxTurnMs, waitedPart, windowPart } = flowLimits.share

/**
 * Why a limit of the destination refuses an attempt and defers the delivery. If a limit refuses an
 * attempt for any other reason, the delivery waits in memory.
 */
export type LimitReason =
  /** The endpoint has requested a pause. The delivery is due in `forMs` milliseconds. */
  | { readonly kind: 'defer_pause'; readonly forMs: number }
  /** The limit is divided among the processes, and this process has no part of it now. */
  | { readonly kind: 'defer_without_part' }

/**
 * Defers a delivery without an attempt because of a limit of its destination.
 * - `defer_pause`: the delivery waits for `forMs`; after a first attempt, at most until the retry
 *   window ends.
 * - `defer_without_part`: the delivery waits so that another process, which has a part of the
 *   limit, may read the retry record. The first waits are short, so that the record is read soon.
 */
export function deferByLimit(reason: LimitReason, carried: DeliveryState, policy: RetryPolicy, now: EpochMs): Decision {
  if (reason.kind === 'defer_without_part') {
    // The wait grows with the time since `notBefore`. If the previous deferral had a reason other
    // than `lane_full`, the time counts from now: a pause or outage must not lengthen the wait.
    const notBefore = carried.reason === 'lane_full' ? carried.notBefore : epochMs(Math.max(carried.notBefore, now))
    const maxWait = carried.attempt > 0 ? (carried.deadline - now) * windowPart : maxTurnMs
    const minWait = durationMs(Math.min((now - notBefore) * waitedPart, maxWait, maxTurnMs))
    return defer({ ...carried, notBefore }, 'lane_full', policy, now, { isDeferralCounted: false, minWait })
  }
  return defer({ ...carried, notBefore: dueOf(carried, reason.forMs, now) }, 'not_before', policy, now)
}

/**
 * Defers a delivery to its *turn*, the time when the limit lets the delivery start: in `forMs`
 * milliseconds or, if `forMs` is 0, at `notBefore`.
 */
export function deferUntilTurn(forMs: DurationMs, carried: DeliveryState, policy: RetryPolicy, now: EpochMs): Decision {
  const notBefore = forMs === 0 ? carried.notBefore : dueOf(carried, forMs, now)
  const decision = defer({ ...carried, notBefore }, 'not_before', policy, now)
  if (decision.kind !== 'deferred') return decision
  return { ...decision, cause: 'lane_full', carried: { ...decision.carried, reason: 'lane_full' } }
}

/**
 * When a delivery is due if its limit lets it start in `forMs`. The time is rounded up, because
 * `forMs` may have a fraction, but a retry record needs whole milliseconds.
 */
function dueOf({ attempt, deadline, notBefore }: DeliveryState, forMs: number, now: EpochMs): EpochMs {
  const due = Math.ceil(now + forMs)
  return epochMs(Math.max(notBefore, attempt > 0 ? Math.min(due, deadline) : due))
}

/**
 * Milliseconds until the turn of a delivery begins (see `deferUntilTurn`); 0 in the first minute of
 * the turn. `undefined` after this minute, and for a delivery without a turn.
 */
export function msToTurn({ reason, notBefore }: DeliveryState, now: EpochMs): DurationMs | undefined {
  const isDeferredByLimit = reason === 'lane_full' || reason === 'not_before'
  return isDeferredByLimit && now - notBefore < turnValidMs ? durationMs(Math.max(0, notBefore - now)) : undefined
}
