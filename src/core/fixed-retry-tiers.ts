import { type DurationMs, durationMs } from './time.ts'

/** Retry tiers that exist with every schedule, because deferrals and replays use them. */
export const fixedTiers: readonly DurationMs[] = [10_000, 30_000, 60_000, 300_000].map(durationMs)
