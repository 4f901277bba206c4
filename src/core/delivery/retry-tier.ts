import { fixedTiers } from '../fixed-retry-tiers.ts'
import type { DeliverySettings } from '../settings/settings.ts'
import { type DurationMs, durationMs } from '../time.ts'
import { tiersOf } from '../topics.ts'

export interface RetryPolicy {
  /** Waits before the 2nd, 3rd, … attempt. */
  readonly schedule: readonly DurationMs[]
  /** Duration of the retry window. It starts when the dispatcher first admits an event. */
  readonly window: DurationMs
  /** The tiers that have a retry topic, shortest first (`tiersOf`). */
  readonly tiers: readonly DurationMs[]
  /** Whether the retry window excludes the time for which the destination is paused. */
  readonly pauseKeepsWindow?: boolean | undefined
}

/** The policy of the installation, which the policy of a destination can override. */
export const retryPolicyOf = ({ schedule, window }: Pick<DeliverySettings, 'schedule' | 'window'>): RetryPolicy => ({
  ...{ schedule, window },
  tiers: tiersOf(schedule),
})

/**
 * Returns the longest tier (wait of a retry topic) that does not exceed `wait`. If all tiers exceed
 * `wait`, returns the shortest tier.
 */
export function tierFor(wait: DurationMs, tiers: readonly DurationMs[]): DurationMs {
  const tier = tiers.findLast(candidate => candidate <= wait) ?? tiers[0]
  if (tier === undefined) throw new RangeError('the list of retry tiers is empty')
  return tier
}

/**
 * Returns the tier (wait of a retry topic) after `deferrals` deferrals. `minWait` raises a shorter
 * wait, and the rest of the retry window (`remaining`) limits a longer one.
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
