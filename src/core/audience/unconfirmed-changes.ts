import { type DurationMs, durationMs, type EpochMs, epochMs } from '../units.ts'

/**
 * Which of a key's changes ended without anybody knowing whether they arrived: given up, or never heard of again. A copy of one may be
 * under way still (a process that crashed leaves a second one), arrive after a newer change and overwrite it. Its report then tells:
 * `delivered` for a change in doubt means that the destination may have that value now; for any other it only repeats what is known.
 */
export interface UnconfirmedChanges {
  /** Bit n stands for the change n versions before the last; the highest bit for all before, too. Unsigned, never 0. */
  readonly versions: number
  /** No copy is under way beyond this. */
  readonly until: EpochMs
}

/** What lies unread on the events topic is gone after 7 days; from then on its copies are. */
const unconfirmedForMs: DurationMs = durationMs(7 * 24 * 3_600_000)
const oldest = 31

/** Puts the last change in doubt. */
export const markUnconfirmed = (doubt: UnconfirmedChanges | undefined, at: EpochMs): UnconfirmedChanges => ({
  versions: ((doubt?.versions ?? 0) | 1) >>> 0,
  until: epochMs(at + unconfirmedForMs),
})

/** After `by` more changes. */
export function shiftBy(doubt: UnconfirmedChanges | undefined, by: number): UnconfirmedChanges | undefined {
  if (doubt === undefined) return undefined
  let { versions } = doubt
  for (let left = Math.min(by, oldest + 1); left > 0; left--)
    versions = ((versions << 1) | (versions & (1 << oldest))) >>> 0
  return { ...doubt, versions }
}

/** Whether the change `age` versions before the last is in doubt. */
export const isUnconfirmed = (doubt: UnconfirmedChanges | undefined, age: number): boolean =>
  doubt !== undefined && ((doubt.versions >>> Math.min(age, oldest)) & 1) === 1

/** Without the doubt about one change. Those that share the highest bit stay in doubt. */
export function confirm(doubt: UnconfirmedChanges | undefined, age: number): UnconfirmedChanges | undefined {
  if (doubt === undefined || age >= oldest) return doubt
  const versions = (doubt.versions & ~(1 << age)) >>> 0
  return versions === 0 ? undefined : { ...doubt, versions }
}

/** Undefined once it is over. */
export const unlessExpired = (doubt: UnconfirmedChanges | undefined, at: EpochMs): UnconfirmedChanges | undefined =>
  doubt !== undefined && at > doubt.until ? undefined : doubt
