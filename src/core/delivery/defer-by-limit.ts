import { flowLimits } from '../flow/limits.ts'
import { type DurationMs, durationMs, type EpochMs, epochMs } from '../time.ts'
import { type Decision, defer } from './decide.ts'
import type { DeliveryState } from './delivery-state.ts'
import type { RetryPolicy } from './retry-tier.ts'

const { turnValidMs, maxTurnMs, duePart, windowPart } = flowLimits.share

/**
 * The cases in which a limit of the destination defers a delivery. In all other cases, it waits in
 * memory.
 */
export type LimitReason =
  /** The endpoint has requested a pause. The delivery is due in `forMs` milliseconds. */
  | { readonly kind: 'defer_pause'; readonly forMs: number }
  /** The limit is divided among the processes, and this process has no part of it now. */
  | { readonly kind: 'defer_to_others' }

/**
 * Defers a delivery without an attempt because of a limit of its destination.
 * - `defer_pause`: the delivery is due after `forMs`, or at the end of its retry window if that is
 *   earlier. The window of a delivery that was never attempted has no effect.
 * - `defer_to_others`: the delivery waits in a retry topic, and a process with a part of the limit
 *   may read it afterwards. The wait is a quarter of the time since the first of the successive
 *   deferrals with the reason `lane_full`, from 10 s to five minutes. The first waits are short, so
 *   that the delivery soon reaches a process with a part. If the delivery was attempted before, the
 *   wait is also at most 1/32 of the rest of the retry window, but not less than 10 s.
 */
export function deferByLimit(reason: LimitReason, carried: DeliveryState, policy: RetryPolicy, now: EpochMs): Decision {
  if (reason.kind === 'defer_to_others') {
    // After a deferral for another reason, this time begins now, so that an earlier pause or outage
    // does not lengthen the wait.
    const notBefore = carried.reason === 'lane_full' ? carried.notBefore : epochMs(Math.max(carried.notBefore, now))
    const maxWait = carried.attempt > 0 ? (carried.deadline - now) * windowPart : maxTurnMs
    const minWait = durationMs(Math.min((now - notBefore) * duePart, maxWait, maxTurnMs))
    return defer({ ...carried, notBefore }, 'lane_full', policy, now, { climbs: false, minWait })
  }
  return defer({ ...carried, notBefore: dueOf(carried, reason.forMs, now) }, 'not_before', policy, now)
}

/**
 * Moves a delivery that waits for a limit of its destination from memory to a retry topic. The
 * *turn* of the delivery is the time at which the limit is expected to let it start: `forMs` from
 * now. Of the retry topics whose wait ends before the turn, the one with the longest wait is used.
 *
 * If `forMs` is 0, the turn has just passed, and stays in the state of the delivery. After a
 * minute, `msToTurn` no longer returns it, and the caller calculates a new one.
 */
export function deferUntilTurn(forMs: DurationMs, carried: DeliveryState, policy: RetryPolicy, now: EpochMs): Decision {
  const notBefore = forMs === 0 ? carried.notBefore : dueOf(carried, forMs, now)
  const decision = defer({ ...carried, notBefore }, 'not_before', policy, now)
  if (decision.kind !== 'deferred') return decision
  return { ...decision, cause: 'lane_full', carried: { ...decision.carried, reason: 'lane_full' } }
}

/**
 * Returns the time at which a delivery is due that the limit of its destination lets start in
 * `forMs` milliseconds. It is rounded up for the retry record, because `forMs` may have a fraction.
 */
function dueOf({ attempt, deadline, notBefore }: DeliveryState, forMs: number, now: EpochMs): EpochMs {
  const due = Math.ceil(now + forMs)
  return epochMs(Math.max(notBefore, attempt > 0 ? Math.min(due, deadline) : due))
}

/**
 * Milliseconds until the turn of a delivery (see `deferUntilTurn`); 0 if the turn passed less than
 * a minute ago. `undefined` when the delivery has no turn, or when it passed earlier.
 */
export function msToTurn({ reason, notBefore }: DeliveryState, now: EpochMs): DurationMs | undefined {
  const isDeferredByLimit = reason === 'lane_full' || reason === 'not_before'
  return isDeferredByLimit && now - notBefore < turnValidMs ? durationMs(Math.max(0, notBefore - now)) : undefined
}
