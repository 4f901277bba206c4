import { type DurationMs, durationMs, type EpochMs, epochMs } from '../time.ts'

/**
 * The changes of one membership that may or may not have arrived: they were dead-lettered or
 * dropped, or no result arrived in time. After a crash, the message of a change may be written
 * twice. The second message can arrive after a newer change and overwrite it. So after a late
 * result of an unconfirmed change, the destination may have the old value. A late result of any
 * other change is ignored: the destination already has that change, and ignores further messages of
 * it because of their message id.
 */
export interface UnconfirmedChanges {
  /**
   * A bit set of the unconfirmed changes. Bit n is for the change whose version is n below the
   * version of the last change. The highest bit also covers all older changes. The number is
   * unsigned, and never 0.
   */
  readonly versions: number
  /**
   * After this time, these changes are no longer unconfirmed: Hookline expects no further delivery
   * of their messages.
   */
  readonly until: EpochMs
}

/**
 * How long the result of a change is awaited, and how long a change stays unconfirmed: 7 days, the
 * retention of the events topic. If a dispatcher is more than 7 days behind, it could still deliver
 * a message of the change later. Hookline does not handle this case.
 *
 * After this time, a change without a result has the status `unknown`, and the next sync sends the
 * value again. A shorter time, for example one that depends on the retry window, is wrong: the
 * message of a change may wait for days before its first attempt. It waits in the events topic
 * while no dispatcher runs. It waits in a retry topic while the limits of its destination allow no
 * further request, and with `lifecycle.pauseKeepsWindow` while its destination is paused. With a
 * shorter time, each sync would send all these waiting changes again, and two messages of one user
 * could arrive in either order.
 */
export const changeExpiry: DurationMs = durationMs(7 * 24 * 3_600_000)
const highestBit = 31

/** Notes that the last change is unconfirmed: it may or may not have arrived. */
export const markUnconfirmed = (changes: UnconfirmedChanges | undefined, at: EpochMs): UnconfirmedChanges => ({
  versions: ((changes?.versions ?? 0) | 1) >>> 0,
  until: epochMs(at + changeExpiry),
})

/**
 * Returns the unconfirmed changes after the version of the last change has grown by `by`. The bit
 * of each change moves up by `by`, because bit n is for the version n below the last one.
 */
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
 * Notes that the change whose version is `age` below that of the last change is no longer
 * unconfirmed. A change with an age of 31 or more stays unconfirmed, because all of these changes
 * share one bit.
 */
export function confirm(changes: UnconfirmedChanges | undefined, age: number): UnconfirmedChanges | undefined {
  if (changes === undefined || age >= highestBit) return changes
  const versions = (changes.versions & ~(1 << age)) >>> 0
  return versions === 0 ? undefined : { ...changes, versions }
}

export const unlessExpired = (changes: UnconfirmedChanges | undefined, at: EpochMs): UnconfirmedChanges | undefined =>
  changes !== undefined && at > changes.until ? undefined : changes
