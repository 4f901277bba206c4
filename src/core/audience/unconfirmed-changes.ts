import { type DurationMs, durationMs, type EpochMs, epochMs } from '../time.ts'

/**
 * Changes of one membership without a confirmed delivery. Their messages can still arrive late, and
 * overwrite a newer change.
 */
export interface UnconfirmedChanges {
  /**
   * Bit n is set for the change whose version is n below the last one. Bit 31 also covers all older
   * changes. Unsigned, never 0.
   */
  readonly versions: number
  /** After this time, Hookline expects no further delivery of the messages of these changes. */
  readonly until: EpochMs
}

/**
 * How long Hookline waits for the result of a delivery: the retention of the events topic. With a
 * shorter time, a sync would send changes again that still wait in this topic.
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
 * Confirms the change whose version is `age` below the last one. Changes with an age of 31 or more
 * share one bit, so they stay unconfirmed.
 */
export function confirm(changes: UnconfirmedChanges | undefined, age: number): UnconfirmedChanges | undefined {
  if (changes === undefined || age >= highestBit) return changes
  const versions = (changes.versions & ~(1 << age)) >>> 0
  return versions === 0 ? undefined : { ...changes, versions }
}

export const unlessExpired = (changes: UnconfirmedChanges | undefined, at: EpochMs): UnconfirmedChanges | undefined =>
  changes !== undefined && at > changes.until ? undefined : changes
