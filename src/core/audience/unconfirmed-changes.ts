import { type DurationMs, durationMs, type EpochMs, epochMs } from '../time.ts'

/**
 * The changes of one membership that may or may not have arrived: they were dead-lettered or
 * dropped, or no result arrived in time. Their messages can arrive late and overwrite a newer
 * change. So after a late result, the destination may have the old value. Receivers ignore repeated
 * messages of all other changes, by their message id.
 */
export interface UnconfirmedChanges {
  /**
   * A bit set of the unconfirmed changes. Bit n is for the change whose version is n below the
   * version of the last change. Bit 31 also covers all older changes. The number is unsigned, and
   * never 0.
   */
  readonly versions: number
  /** After this time, Hookline expects no further delivery of the messages of these changes. */
  readonly until: EpochMs
}

/**
 * How long the result of a change is awaited, and how long a change stays unconfirmed: 7 days, the
 * retention of the events topic.
 *
 * A shorter time, for example one that depends on the retry window, is wrong: the message of a
 * change may wait for days before its first attempt. Each sync would then send all waiting changes
 * again, and two messages of one user could arrive in either order.
 */
export const changeExpiry: DurationMs = durationMs(7 * 24 * 3_600_000)
const highestBit = 31

/** Notes that the last change may or may not have arrived. */
export const markUnconfirmed = (changes: UnconfirmedChanges | undefined, at: EpochMs): UnconfirmedChanges => ({
  versions: ((changes?.versions ?? 0) | 1) >>> 0,
  until: epochMs(at + changeExpiry),
})

/** Returns the unconfirmed changes after the version of the last change has grown by `by`. */
export function shiftBy(changes: UnconfirmedChanges | undefined, by: number): UnconfirmedChanges | undefined {
  if (changes === undefined) return undefined
  let { versions } = changes
  for (let left = Math.min(by, highestBit + 1); left > 0; left--)
    versions = ((versions << 1) | (versions & (1 << highestBit))) >>> 0
  return { ...changes, versions }
}

/** Whether the change whose version is `age` below that of the last change is unconfirmed. */
export const isUnconfirmed = (changes: UnconfirmedChanges | undefined, age: number): boolean =>
  changes !== undefined && ((changes.versions >>> Math.min(age, highestBit)) & 1) === 1

/**
 * Marks as confirmed the change whose version is `age` below that of the last change. A change with
 * an age of 31 or more stays unconfirmed, because all of these share one bit.
 */
export function confirm(changes: UnconfirmedChanges | undefined, age: number): UnconfirmedChanges | undefined {
  if (changes === undefined || age >= highestBit) return changes
  const versions = (changes.versions & ~(1 << age)) >>> 0
  return versions === 0 ? undefined : { ...changes, versions }
}

export const unlessExpired = (changes: UnconfirmedChanges | undefined, at: EpochMs): UnconfirmedChanges | undefined =>
  changes !== undefined && at > changes.until ? undefined : changes
