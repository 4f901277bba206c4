import { flowLimits } from '../flow/flow-control-constants.ts'
import { type DurationMs, durationMs, type EpochMs, epochMs } from '../time.ts'
import type { DeliveryState } from './delivery-state.ts'
import type { RetryPolicy } from './retry-tier.ts'

/*
 * With `lifecycle.pauseKeepsWindow`, the retry window excludes the time for which a delivery waits
 * because its destination is paused. A deferral writes `pausedAt` into the retry record. The
 * process that reads the record moves the deadline by the time since `pausedAt`.
 */

const { maxPausedTime, pausedPart } = flowLimits.deferral

/** Returns the state of a delivery that is deferred now because its destination is paused. */
export function beginPausedTime(
  carried: DeliveryState,
  { pauseKeepsWindow }: Pick<RetryPolicy, 'pauseKeepsWindow'>,
  now: EpochMs,
): DeliveryState {
  if (pauseKeepsWindow !== true || pausedTimeLeft(carried) === 0) return carried
  // A delivery in memory may be due later than `now`. Its paused time begins when it is due.
  return { ...carried, pausedAt: epochMs(Math.max(now, carried.notBefore)) }
}

/**
 * Ends the paused time, and moves the deadline by it. The paused time ends when the record is read,
 * and not when the destination is resumed.
 */
export function endPausedTime(carried: DeliveryState, now: EpochMs): DeliveryState {
  if (carried.pausedAt === undefined) return carried
  const { pausedAt, ...rest } = carried
  // The difference can be negative, because the clocks of two processes differ.
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
 * The minimum wait in the next retry topic. It grows with the paused time, so that a long pause
 * writes few records.
 */
export const minPausedWait = ({ pausedAt, pausedFor = durationMs(0) }: DeliveryState): DurationMs =>
  durationMs(pausedAt === undefined ? 0 : pausedFor * pausedPart)

const pausedTimeLeft = ({ pausedFor = durationMs(0) }: DeliveryState): DurationMs =>
  durationMs(Math.max(0, maxPausedTime - pausedFor))
