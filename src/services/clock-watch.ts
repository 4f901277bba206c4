import type { Clock, Logger } from '../core/ports.ts'
import { type DurationMs, durationMs } from '../core/time.ts'
import { createPeriodicTask, type PeriodicTask } from './periodic-task.ts'

const checkEvery = durationMs(10_000)
/**
 * The warning is repeated when the difference of the clocks has changed by more than this number of
 * seconds.
 */
const repeatAfterSeconds = 10

interface Deps {
  readonly clock: Clock
  /** Milliseconds by which the machine's clock is ahead of `clock`. */
  readonly clockAheadMs: () => number
  readonly logger: Logger
}

/**
 * Logs a warning when the clocks of this machine and the brokers differ by at least half a second.
 */
export function createClockWatch({ clock, clockAheadMs, logger }: Deps): PeriodicTask {
  let loggedSeconds = 0

  function run(): DurationMs {
    const seconds = Math.round(clockAheadMs() / 1_000)
    if (seconds === 0 && loggedSeconds !== 0) {
      logger.info({}, "this machine's clock agrees with the brokers' clock again")
      loggedSeconds = 0
    } else if (seconds !== 0 && (loggedSeconds === 0 || Math.abs(seconds - loggedSeconds) > repeatAfterSeconds)) {
      logger.warn(
        { seconds },
        "this machine's clock differs from the brokers' clock (see \"seconds\"; a positive value means that this machine is ahead); hookline uses the brokers' clock; check the time services of this machine and of the brokers",
      )
      loggedSeconds = seconds
    }
    return checkEvery
  }

  return createPeriodicTask({ clock, firstRunAfter: checkEvery, run })
}
