import { fixedTiers } from '../fixed-tiers.ts'
import { type DurationMs, durationMs } from '../time.ts'

export interface RetryPolicy {
  /** Waits before the 2nd, 3rd, … attempt. */
  readonly schedule: readonly DurationMs[]
  /** Duration of the retry window. It starts when the dispatcher first admits an event. */
  readonly window: DurationMs
  /** The tiers that have a retry topic, shortest first: `tiersOf(schedule)`. */
  readonly tiers: readonly DurationMs[]
  /** Whether the window excludes the time for which the destination is paused. Absent: no. */
  readonly pauseKeepsWindow?: boolean | undefined
}

/** The longest tier that is not longer than the wait, or the shortest tier when all are longer. */
export function tierFor(wait: DurationMs, tiers: readonly DurationMs[]): DurationMs {
  const tier = tiers.findLast(candidate => candidate <= wait) ?? tiers[0]
  if (tier === undefined) throw new RangeError('the list of retry tiers is empty')
  return tier
}

/**
 * The tier for a delivery that was deferred `deferrals` times before. Each deferral uses a longer
 * tier, up to five minutes or `minWait`, so that records circulate less through Kafka during a long
 * outage or pause. The tier is not longer than the rest of the retry window, unless all tiers are
 * longer. After the window (`remaining` is negative) only the number of deferrals decides.
 */
export function deferralTier(
  deferrals: number,
  remaining: DurationMs,
  tiers: readonly DurationMs[],
  minWait: DurationMs = durationMs(0),
): DurationMs {
  const climbed = fixedTiers[Math.min(deferrals, fixedTiers.length - 1)] as DurationMs
  const wait = Math.max(climbed, minWait)
  return tierFor(durationMs(remaining < 0 ? wait : Math.min(wait, remaining)), tiers)
}
