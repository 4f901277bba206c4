import { type DurationMs, durationMs, type EpochMs, epochMs } from '../time.ts'

/**
 * The changes of one membership that may or may not have arrived: they were dead-lettered, or no
 * result arrived in time. A process that crashed may have left a second copy of a change, and the
 * copy can arrive after a newer change and overwrite it. So after a late result of an unconfirmed
 * change, the destination may have the old value. A late result of any other change proves nothing
 * and is ignored.
 */
export interface UnconfirmedChanges {
  /**
   * Bit n is set when the change n versions before the last one is unconfirmed. The highest bit
   * also covers all older changes. Unsigned, never 0.
   */
  readonly versions: number
  /** After this time Hookline expects no more deliveries of copies of the changes. */
  readonly until: EpochMs
}

/**
 * The retention of the events topic. A copy that is read later, by a dispatcher that is more than
 * 7 days behind, is not considered.
 */
const unconfirmedForMs: DurationMs = durationMs(7 * 24 * 3_600_000)
const highestBit = 31

/** Marks the last change as unconfirmed. */
export const markUnconfirmed = (changes: UnconfirmedChanges | undefined, at: EpochMs): UnconfirmedChanges => ({
  versions: ((changes?.versions ?? 0) | 1) >>> 0,
  until: epochMs(at + unconfirmedForMs),
})

/** The unconfirmed changes after `by` more changes: their bits are shifted. */
export function shiftBy(changes: UnconfirmedChanges | undefined, by: number): UnconfirmedChanges | undefined {
  if (changes === undefined) return undefined
  let { versions } = changes
  for (let left = Math.min(by, highestBit + 1); left > 0; left--)
    versions = ((versions << 1) | (versions & (1 << highestBit))) >>> 0
  return { ...changes, versions }
}

/** Whether a change is unconfirmed. `age` is its distance from the last change, in versions. */
export const isUnconfirmed = (changes: UnconfirmedChanges | undefined, age: number): boolean =>
  changes !== undefined && ((changes.versions >>> Math.min(age, highestBit)) & 1) === 1

/**
 * Confirms one change. A change 31 or more versions before the last one stays unconfirmed, because
 * all of these share one bit.
 */
export function confirm(changes: UnconfirmedChanges | undefined, age: number): UnconfirmedChanges | undefined {
  if (changes === undefined || age >= highestBit) return changes
  const versions = (changes.versions & ~(1 << age)) >>> 0
  return versions === 0 ? undefined : { ...changes, versions }
}

export const unlessExpired = (changes: UnconfirmedChanges | undefined, at: EpochMs): UnconfirmedChanges | undefined =>
  changes !== undefined && at > changes.until ? undefined : changes
