import type { DeliverySettings } from '../settings.ts'
import { standingTiers } from '../topics.ts'
import { type DurationMs, durationMs, type EpochMs, formatDuration } from '../units.ts'
import { parseHttpDate } from './http-date.ts'

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

/** As caches bound it (RFC 9111 1.2.2); far beyond any window. */
const longestRetryAfterSeconds = 2 ** 31

/** How long a Retry-After asks to wait: seconds or an HTTP-date; 0 when negative or past, undefined when it is neither. */
export function parseRetryAfter(value: string | undefined, now: EpochMs): DurationMs | undefined {
  const text = value?.trim()
  if (text === undefined) return undefined
  if (/^-?\d+$/.test(text)) return durationMs(Math.min(Math.max(Number(text), 0), longestRetryAfterSeconds) * 1_000)
  const date = parseHttpDate(text, now)
  return date === undefined ? undefined : durationMs(Math.max(date - now, 0))
}

/** A4.1: an endpoint has 5 seconds to answer. */
const longestTimeout = durationMs(5_000)
/** A7: retried for at most 4 hours. */
const longestWindow = durationMs(4 * 3_600_000)

/** Why a schedule cannot be kept; undefined when it can. */
export function refuseSchedule(
  delivery: Pick<DeliverySettings, 'schedule' | 'timeout' | 'window'>,
): string | undefined {
  const { schedule, timeout, window } = delivery
  if (timeout <= 0 || timeout > longestTimeout) {
    return `timeout must be more than 0 and at most ${formatDuration(longestTimeout)}, not ${formatDuration(timeout)}`
  }
  if (window > longestWindow) {
    return `window must be at most ${formatDuration(longestWindow)}, not ${formatDuration(window)}`
  }
  if (schedule.some(wait => wait <= 0)) return 'every wait of schedule must be more than 0'
  const shorter = schedule.findIndex((wait, index) => wait < (schedule[index - 1] ?? 0))
  if (shorter >= 0) {
    const [before, wait] = schedule.slice(shorter - 1).map(formatDuration)
    return `schedule must never decrease: ${wait} comes after ${before}`
  }
  const waits = schedule.reduce((sum, wait) => sum + wait, 0)
  const needed = durationMs(waits + (schedule.length + 1) * timeout)
  if (needed <= window) return undefined
  return (
    `schedule does not fit into window: ${formatDuration(durationMs(waits))} of waits and ${schedule.length + 1} attempts ` +
    `of up to ${formatDuration(timeout)} are ${formatDuration(needed)}, window is ${formatDuration(window)}`
  )
}
