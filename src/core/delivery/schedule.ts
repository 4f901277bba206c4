import { standingTiers } from '../topics.ts'
import { type DurationMs, durationMs } from '../units.ts'

export interface RetryPolicy {
  /** Waits before the 2nd, 3rd, … attempt. */
  readonly schedule: readonly DurationMs[]
  /** From when the dispatcher first took an event up. */
  readonly window: DurationMs
  /** Retry topics that there are, shortest first: `tiersOf(schedule)`. */
  readonly tiers: readonly DurationMs[]
}

/** The largest tier not longer than the wait, else the smallest one. */
export function tierFor(wait: DurationMs, tiers: readonly DurationMs[]): DurationMs {
  const tier = tiers.findLast(candidate => candidate <= wait) ?? tiers[0]
  if (tier === undefined) throw new RangeError('there is no retry tier')
  return tier
}

/**
 * The tier for a delivery that was put off `deferrals` times before. It climbs, so that a long outage does not spin records
 * through Kafka, but does not sleep past the deadline where a shorter tier exists.
 */
export function deferralTier(deferrals: number, remaining: DurationMs, tiers: readonly DurationMs[]): DurationMs {
  const climbed = standingTiers[Math.min(deferrals, standingTiers.length - 1)] as DurationMs
  return tierFor(durationMs(Math.min(climbed, remaining)), tiers)
}
