import { flowLimits } from '../flow/limits.ts'
import { type DurationMs, durationMs, type EpochMs, epochMs } from '../time.ts'
import { type Decision, defer } from './decide.ts'
import type { DeliveryState } from './delivery-state.ts'
import type { RetryPolicy } from './retry-tier.ts'

const { turnValidMs } = flowLimits.share

/** Why a limit of its destination defers a delivery, instead of a wait in memory. */
export type LimitReason =
  /** The endpoint asked for a pause that continues for `forMs`. */
  | { readonly kind: 'defer_pause'; readonly forMs: number }
  /** Only other processes have a part in the limit. */
  | { readonly kind: 'defer_to_others' }

/**
 * Defers a delivery without an attempt because of a limit of its destination. After a pause it is
 * due at the end of the pause, or of its window if that is earlier. For another process it waits in
 * the retry topic with the shortest wait, however often it has waited there: the next copy is in
 * another partition, whose owner may have a part in the limit.
 */
export function deferByLimit(reason: LimitReason, carried: DeliveryState, policy: RetryPolicy, now: EpochMs): Decision {
  if (reason.kind === 'defer_to_others') return defer(carried, 'lane_full', policy, now, { climbs: false })
  const pauseEnd = Math.min(now + reason.forMs, carried.deadline)
  const notBefore = epochMs(Math.max(carried.notBefore, pauseEnd))
  return defer({ ...carried, notBefore }, 'not_before', policy, now)
}

/**
 * Moves a delivery out of memory that waits for a limit of its destination. Its tier is the longest
 * one before its turn, `forMs` from now, so that the deliveries of a long backlog come back at about
 * the rate of the limit. Before its first attempt a delivery may wait longer than its window.
 */
export function deferUntilTurn(forMs: DurationMs, carried: DeliveryState, policy: RetryPolicy, now: EpochMs): Decision {
  const turn = carried.attempt > 0 ? Math.min(now + forMs, carried.deadline) : now + forMs
  const decision = defer({ ...carried, notBefore: epochMs(turn) }, 'not_before', policy, now)
  if (decision.kind !== 'deferred') return decision
  return { ...decision, cause: 'lane_full', carried: { ...decision.carried, reason: 'lane_full' } }
}

/**
 * Milliseconds until the turn that a delivery already has (`deferUntilTurn`). A turn that passed
 * less than a minute ago is not lost: 0. `undefined` when it has none.
 */
export function msToTurn({ reason, notBefore }: DeliveryState, now: EpochMs): DurationMs | undefined {
  const isDeferredByLimit = reason === 'lane_full' || reason === 'not_before'
  return isDeferredByLimit && now - notBefore < turnValidMs ? durationMs(Math.max(0, notBefore - now)) : undefined
}
