import { type DurationMs, durationMs, type EpochMs, epochMs } from '../units.ts'

/**
 * The changes of one membership that may or may not have arrived: they were dead-lettered, or no
 * result arrived in time. A process that crashed may have left a second copy of a change, and the
 * copy can arrive after a newer change and overwrite it. So after a late `delivered` result of an
 * unconfirmed change, the destination may have the old value. A late result of any other change
 * proves nothing and is ignored.
 */
export interface UnconfirmedChanges {
  /**
   * Bit n is set when the change n versions before the last one is unconfirmed. The highest bit
   * also covers all older changes. Unsigned, never 0.
   */
  readonly versions: number
  /** After this time no copy of the changes can be delivered. */
  readonly until: EpochMs
}

/** Retention of the events topic: copies of a change are gone after 7 days. */
const unconfirmedForMs: DurationMs = durationMs(7 * 24 * 3_600_000)
const highestBit = 31

/** Marks the last change as unconfirmed. */
export const markUnconfirmed = (doubt: UnconfirmedChanges | undefined, at: EpochMs): UnconfirmedChanges => ({
  versions: ((doubt?.versions ?? 0) | 1) >>> 0,
  until: epochMs(at + unconfirmedForMs),
})

/** Shifts the bits after `by` more changes. */
export function shiftBy(doubt: UnconfirmedChanges | undefined, by: number): UnconfirmedChanges | undefined {
  if (doubt === undefined) return undefined
  let { versions } = doubt
  for (let left = Math.min(by, highestBit + 1); left > 0; left--)
    versions = ((versions << 1) | (versions & (1 << highestBit))) >>> 0
  return { ...doubt, versions }
}

/** Whether the change `age` versions before the last one is unconfirmed. */
export const isUnconfirmed = (doubt: UnconfirmedChanges | undefined, age: number): boolean =>
  doubt !== undefined && ((doubt.versions >>> Math.min(age, highestBit)) & 1) === 1

/** Confirms one change. Changes that share the highest bit stay unconfirmed. */
export function confirm(doubt: UnconfirmedChanges | undefined, age: number): UnconfirmedChanges | undefined {
  if (doubt === undefined || age >= highestBit) return doubt
  const versions = (doubt.versions & ~(1 << age)) >>> 0
  return versions === 0 ? undefined : { ...doubt, versions }
}

export const unlessExpired = (doubt: UnconfirmedChanges | undefined, at: EpochMs): UnconfirmedChanges | undefined =>
  doubt !== undefined && at > doubt.until ? undefined : doubt
