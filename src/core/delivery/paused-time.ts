import { flowLimits } from '../flow/limits.ts'
import { type DurationMs, durationMs, type EpochMs, epochMs } from '../time.ts'
import type { DeliveryState } from './delivery-state.ts'
import type { RetryPolicy } from './retry-tier.ts'

/*
 * The paused time of a delivery: the time for which it waited because its destination was paused.
 * With `lifecycle.pauseKeepsWindow`, the retry window excludes this time.
 *
 * While its destination is paused, a delivery is deferred again and again. Each deferral writes a
 * retry record with `pausedAt`, the begin of the paused time: now or, if later, when the delivery
 * is due. The process that reads the record moves the deadline by the time since `pausedAt`, and
 * adds this time to `pausedFor`.
 */

const { maxPausedTime, pausedPart } = flowLimits.deferral

/** Returns the state of a delivery that is deferred now because its destination is paused. */
export function beginPausedTime(
  carried: DeliveryState,
  { pauseKeepsWindow }: Pick<RetryPolicy, 'pauseKeepsWindow'>,
  now: EpochMs,
): DeliveryState {
  if (pauseKeepsWindow !== true || pausedTimeLeft(carried) === 0) return carried
  // A delivery in memory can become due up to 10 s from now. Until then, it does not wait because
  // of the pause.
  return { ...carried, pausedAt: epochMs(Math.max(now, carried.notBefore)) }
}

/**
 * Returns the state of a delivery whose retry record is read again. The paused time includes the
 * time between a resume of the destination and the read of the record.
 */
export function endPausedTime(carried: DeliveryState, now: EpochMs): DeliveryState {
  if (carried.pausedAt === undefined) return carried
  const { pausedAt, ...rest } = carried
  // The difference can be negative: `pausedAt` may be in the future, and the clocks of two
  // processes differ by some milliseconds.
  const passed = Math.max(0, Math.min(now - pausedAt, pausedTimeLeft(carried)))
  return {
    ...rest,
    deadline: epochMs(carried.deadline + passed),
    pausedFor: durationMs((carried.pausedFor ?? 0) + passed),
  }
}

/**
 * The time at which the retry window ends if the destination stays paused until the maximum paused
 * time is reached.
 */
export const latestDeadline = (carried: DeliveryState): EpochMs =>
  carried.pausedAt === undefined ? carried.deadline : epochMs(carried.deadline + pausedTimeLeft(carried))

/**
 * The minimum wait, in the next retry topic, of a delivery whose destination stays paused. It grows
 * with the paused time, so that a pause of two days writes few retry records.
 */
export const minPausedWait = ({ pausedAt, pausedFor = durationMs(0) }: DeliveryState): DurationMs =>
  durationMs(pausedAt === undefined ? 0 : pausedFor * pausedPart)

const pausedTimeLeft = ({ pausedFor = durationMs(0) }: DeliveryState): DurationMs =>
  durationMs(Math.max(0, maxPausedTime - pausedFor))
