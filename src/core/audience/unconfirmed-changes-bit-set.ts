import { type DurationMs, durationMs, type EpochMs, epochMs } from '../time.ts'

/**
 * Changes of one membership without a confirmed delivery. Their messages can still arrive late, and
 * overwrite a newer change.
 */
export interface UnconfirmedChanges {
  /**
   * A bit set: bit n is 1 if the change with the version `Membership.version` minus n is
   * unconfirmed. Bit 31 also covers all older changes. Unsigned, never 0.
   */
  readonly bitSet: number
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
  bitSet: ((changes?.bitSet ?? 0) | 1) >>> 0,
  until: epochMs(at + changeExpiry),
})

/** Shifts the bit set, because the version of the last change has grown by `by`. */
export function shiftBy(changes: UnconfirmedChanges | undefined, by: number): UnconfirmedChanges | undefined {
  if (changes === undefined) return undefined
  let { bitSet } = changes
  for (let left = Math.min(by, highestBit + 1); left > 0; left--)
    bitSet = ((bitSet << 1) | (bitSet & (1 << highestBit))) >>> 0
  return { ...changes, bitSet }
}

/**
 * Whether a change is unconfirmed.
 * @param versionsBehind the version of the last change minus the version of this change
 */
export const isUnconfirmed = (changes: UnconfirmedChanges | undefined, versionsBehind: number): boolean =>
  changes !== undefined && ((changes.bitSet >>> Math.min(versionsBehind, highestBit)) & 1) === 1

/**
 * Confirms a change. Changes that are 31 or more versions behind share one bit, so they stay
 * unconfirmed.
 * @param versionsBehind the version of the last change minus the version of this change
 */
export function confirm(
  changes: UnconfirmedChanges | undefined,
  versionsBehind: number,
): UnconfirmedChanges | undefined {
  if (changes === undefined || versionsBehind >= highestBit) return changes
  const bitSet = (changes.bitSet & ~(1 << versionsBehind)) >>> 0
  return bitSet === 0 ? undefined : { ...changes, bitSet }
}

export const unlessExpired = (changes: UnconfirmedChanges | undefined, at: EpochMs): UnconfirmedChanges | undefined =>
  changes !== undefined && at > changes.until ? undefined : changes
