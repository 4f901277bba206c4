import { type DurationMs, durationMs, type EpochMs, epochMs } from '../time.ts'
import { clampedToNow, idsPerMs, isDayBefore, type SyncId, syncId, versionAt } from './sync-id.ts'

/**
 * `full`: the sync lists all members. `partial`: it adds or removes only the users that it lists.
 */
export const syncModes = ['full', 'partial'] as const
export type SyncMode = (typeof syncModes)[number]

/**
 * The watermark of an audience in one partition, stored in the memberships topic. It keeps what
 * must still be known after a membership is removed:
 * - which syncs are closed, so that their late inputs are ignored
 * - the highest version of a change that a removed membership can have had, so that the changes of
 *   a new membership get higher ones
 */
export interface AudienceWatermark {
  /**
   * The lowest id of a full sync that is not cancelled. Inputs of cancelled syncs are ignored.
   * Normally `begun` is the id of the newest full sync of which an input was read. In two cases
   * `begun` is higher, which cancels this sync too:
   * - An input of the sync was ignored: `begun` is the id of the sync plus 1 (`afterLostInput`).
   * - An input of any sync could not be read: `begun` is above the ids of all full syncs that began
   *   before this event (`afterUnreadInput`).
   */
  readonly begun: SyncId
  /**
   * Inputs of syncs with this id or a smaller one are ignored. The end of a full sync sets `closed`
   * to the id of this sync. The end of a partial sync sets it, at most once a day, to the lowest id
   * that a sync could get 7 days earlier (`afterSyncEnd`).
   */
  readonly closed: SyncId
  /**
   * Hookline does not know the last versions of memberships that it removed, but none was above
   * this number. The first change of each new membership gets a higher version.
   */
  readonly floor: number
  /** Offset of the last input that changed this watermark. */
  readonly position: number
}

/** The watermark of an audience without inputs. */
export const emptyWatermark: AudienceWatermark = { begun: syncId(0), closed: syncId(0), floor: 0, position: -1 }

export interface SyncPart {
  readonly syncId: SyncId
  readonly mode: SyncMode
}

/**
 * Why an observation or the end of a sync is ignored.
 * - `sync_closed`: the sync is closed.
 * - `sync_cancelled`: a newer full sync has begun, or the full sync may be incomplete: one of its
 *   earlier inputs was ignored, or may be among the inputs that could not be read (see `begun`).
 */
export const staleReasons = ['sync_closed', 'sync_cancelled'] as const
export type StaleReason = (typeof staleReasons)[number]

/**
 * Returns why an input of a sync must be ignored; `undefined` when the input is still accepted. An
 * input is ignored if its sync is closed (see `closed`), or if its sync is a full sync that was
 * cancelled (see `begun`).
 */
export function staleReason(mark: AudienceWatermark, sync: SyncPart): StaleReason | undefined {
  if (sync.syncId <= mark.closed) return 'sync_closed'
  return sync.mode === 'full' && sync.syncId < mark.begun ? 'sync_cancelled' : undefined
}

/**
 * Whether this is the first input of a full sync. A full sync cancels all earlier full syncs that
 * have not ended.
 */
export const beginsSync = (mark: AudienceWatermark, { syncId: id, mode }: SyncPart): boolean =>
  mode === 'full' && id > mark.begun

/** The watermark after the first input of a full sync (see `beginsSync`). */
export const afterSyncStart = (mark: AudienceWatermark, sync: SyncPart, position: number): AudienceWatermark => ({
  ...mark,
  begun: sync.syncId,
  position,
})

/**
 * Whether an ignored input must cancel its sync. The input is ignored because its audience is not
 * in the configuration. If its sync is a full sync that is not closed or cancelled yet, the sync
 * must be cancelled. The reason: the input may have listed a user, and the end of a full sync
 * removes all users that the sync did not list. So without the cancellation, the end of the sync
 * would remove this user.
 */
export const isLostInputFatal = (mark: AudienceWatermark, sync: SyncPart): boolean =>
  sync.mode === 'full' && staleReason(mark, sync) === undefined

/**
 * Returns the watermark that cancels a full sync, because one of its inputs was ignored (see
 * `isLostInputFatal`). All later inputs of the sync, including its end, are then ignored too.
 */
export const afterLostInput = (mark: AudienceWatermark, sync: SyncPart, position: number): AudienceWatermark => ({
  ...mark,
  begun: syncId(sync.syncId + 1),
  position,
})

/**
 * Returns the watermark that cancels all full syncs that began before `at`. At this time, Kafka
 * appended an input that could not be decoded, or Hookline found that Kafka had lost inputs. These
 * inputs may have listed users in one of the syncs. `undefined` when the syncs are cancelled
 * already. A sync that began after `at` is not cancelled. It can have one of these inputs only if
 * the clocks of the brokers differ.
 *
 * If `at` lies in the future, `now` is used instead. A future `at` is possible if the topic has the
 * times of producers (`CreateTime`), and another program wrote the record. With this `at`, all full
 * syncs until that time would be cancelled, and `begun` could be above Avro's limit for a `SyncId`.
 */
export function afterUnreadInput(
  mark: AudienceWatermark,
  position: number,
  at: EpochMs,
  now: EpochMs,
): AudienceWatermark | undefined {
  // One millisecond is added, so that a sync that began in the millisecond `at` is cancelled too.
  const begun = clampedToNow(syncId(versionAt(epochMs(at + 1))), now)
  // After Kafka has truncated the input topic, `position` can be lower than `mark.position`. The
  // new watermark gets the higher position, because a restore ignores a watermark with a lower one.
  return begun <= mark.begun ? undefined : { ...mark, begun, position: Math.max(mark.position, position) }
}

/**
 * How long inputs of a sync are accepted after the sync began: 7 days, the retention of the
 * audience input topic.
 */
const syncAcceptedForMs: DurationMs = durationMs(7 * 24 * 3_600_000)

/**
 * The watermark after the end of a sync that `staleReason` does not reject. Returns `undefined`
 * when the watermark stays the same.
 * - A full sync closes itself and all earlier syncs.
 * - A partial sync closes the syncs that began more than 7 days before `at`, at most once a day.
 *   Without this, the state of a user whom a partial sync removed would be kept until the next full
 *   sync, which may never come.
 * - The floor rises to `versionAt(at)`, so that new memberships get higher versions.
 * @param at when the end of the sync was appended
 */
export function afterSyncEnd(
  mark: AudienceWatermark,
  sync: SyncPart,
  position: number,
  at: EpochMs,
): AudienceWatermark | undefined {
  const old = syncId((at - syncAcceptedForMs) * idsPerMs)
  // To close syncs, Hookline visits all memberships of the audience, which takes long. So partial
  // syncs close earlier syncs at most once a day.
  if (sync.mode === 'partial' && !isDayBefore(mark.closed, old)) return undefined
  const upTo = sync.mode === 'full' ? sync.syncId : old
  return { ...mark, closed: upTo, floor: Math.max(mark.floor, versionAt(at)), position }
}

/**
 * The watermark after a reset of the whole audience. The reset replaces sync ids that lie in the
 * future by the id for the time `at`. Returns `undefined` when no id lies in the future: the
 * watermark then stays the same.
 */
export function resetWatermark(mark: AudienceWatermark, position: number, at: EpochMs): AudienceWatermark | undefined {
  const lowered = { ...mark, begun: clampedToNow(mark.begun, at), closed: clampedToNow(mark.closed, at), position }
  return lowered.begun === mark.begun && lowered.closed === mark.closed ? undefined : lowered
}

/**
 * Returns the watermark that must be written before memberships are removed. `version` is the
 * highest version of their changes, to which `floor` rises. Returns `undefined` when `floor` is at
 * least `version` already.
 */
export const withRaisedFloor = (
  mark: AudienceWatermark,
  version: number,
  position: number,
): AudienceWatermark | undefined => (version <= mark.floor ? undefined : { ...mark, floor: version, position })
