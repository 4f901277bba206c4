import type { Clock, Logger } from '../core/ports.ts'
import { type DurationMs, durationMs } from '../core/units.ts'
import { type Chore, createChore } from './chore.ts'

const lookEvery = durationMs(10_000)
/** A clock that is made faster or slower meanwhile is not told of again. */
const furtherSeconds = 10

interface Deps {
  readonly clock: Clock
  /** How far the machine's clock is ahead of what `clock` goes by, in milliseconds; 0 where it is followed. */
  readonly offset: () => number
  readonly logger: Logger
}

/** Tells that the machine's clock differs from the time that the process goes by, and when it no longer does. */
export function createClockWatch({ clock, offset, logger }: Deps): Chore {
  let told = 0

  function turn(): DurationMs {
    const seconds = Math.round(offset() / 1_000)
    if (seconds === 0 && told !== 0) {
      logger.info({}, "the machine's clock agrees again with the brokers', by which this process goes")
      told = 0
    } else if (seconds !== 0 && (told === 0 || Math.abs(seconds - told) > furtherSeconds)) {
      logger.warn(
        { seconds },
        "the machine's clock is off by that from the brokers', by which this process goes: check its time service",
      )
      told = seconds
    }
    return lookEvery
  }

  return createChore({ clock, firstAfter: lookEvery, turn })
}
