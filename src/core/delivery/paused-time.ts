import { flowLimits } from '../flow/limits.ts'
import { type DurationMs, durationMs, type EpochMs, epochMs } from '../time.ts'
import type { DeliveryState } from './delivery-state.ts'
import type { RetryPolicy } from './retry-tier.ts'

/*
 * The paused time of a delivery: the time for which it waited because its destination was paused.
 * With `lifecycle.pauseKeepsWindow`, the retry window does not count this time.
 *
 * A paused delivery circulates through retry topics. Each deferral writes its time to the record
 * (`pausedAt`). When the record is read again, by any process, the deadline moves by the time since
 * then, and `pausedFor` keeps the total. A delivery that is not due does not wait because of the
 * pause, so its window continues until it is due.
 */

const { maxPausedTime, pausedPart } = flowLimits.deferral

/** The state of a delivery that is deferred now because its destination is paused. */
export function beginPausedTime(
  carried: DeliveryState,
  { pauseKeepsWindow }: Pick<RetryPolicy, 'pauseKeepsWindow'>,
  now: EpochMs,
): DeliveryState {
  if (pauseKeepsWindow !== true || pausedTimeLeft(carried) === 0) return carried
  // A delivery that is due within the next ten seconds begins its paused time when it is due.
  return { ...carried, pausedAt: epochMs(Math.max(now, carried.notBefore)) }
}

/**
 * The state of a delivery that is read again. Its deadline moves by the time since the deferral for
 * the pause, which counts even if the destination was resumed in that time. A delivery that was
 * not deferred for a pause stays the same.
 */
export function endPausedTime(carried: DeliveryState, now: EpochMs): DeliveryState {
  if (carried.pausedAt === undefined) return carried
  const { pausedAt, ...rest } = carried
  // `pausedAt` may be in the future, and the clocks of two processes differ by some milliseconds.
  const passed = Math.max(0, Math.min(now - pausedAt, pausedTimeLeft(carried)))
  return {
    ...rest,
    deadline: epochMs(carried.deadline + passed),
    pausedFor: durationMs((carried.pausedFor ?? 0) + passed),
  }
}

/** The end of the retry window if the destination stays paused. */
export const latestDeadline = (carried: DeliveryState): EpochMs =>
  carried.pausedAt === undefined ? carried.deadline : epochMs(carried.deadline + pausedTimeLeft(carried))

/**
 * The minimum wait of a delivery whose destination stays paused: the longer it has waited, the
 * longer the tier, so that the copies of a two-day pause stay few. 0 for every other delivery.
 */
export const minPausedWait = ({ pausedAt, pausedFor = durationMs(0) }: DeliveryState): DurationMs =>
  durationMs(pausedAt === undefined ? 0 : pausedFor * pausedPart)

const pausedTimeLeft = ({ pausedFor = durationMs(0) }: DeliveryState): DurationMs =>
  durationMs(Math.max(0, maxPausedTime - pausedFor))
