import { type DurationMs, durationMs, type EpochMs, epochMs } from '../time.ts'
import { clampedToNow, idsPerMs, isDayBefore, type SyncId, syncId, versionAt } from './sync-id.ts'

/**
 * `full`: the sync lists all members. `partial`: it adds or removes only the users that it lists.
 */
export const syncModes = ['full', 'partial'] as const
export type SyncMode = (typeof syncModes)[number]

/**
 * The watermark of an audience in one partition, stored in the memberships topic. It keeps what
 * must still be known after a membership is removed: which syncs are closed, and the highest
 * version that a change of a removed membership can have.
 */
export interface AudienceWatermark {
  /**
   * Inputs of full syncs with a lower id are ignored, because these syncs are cancelled. Normally
   * `begun` is the id of the newest full sync of which an input was read. It is higher when an
   * input of this sync was ignored (`afterLostInput`), or when an input of any sync could not be
   * read (`afterUnreadInput`). This sync is then cancelled too.
   */
  readonly begun: SyncId
  /** Inputs of syncs with this id or a smaller one are ignored (see `afterSyncEnd`). */
  readonly closed: SyncId
  /**
   * An upper bound for the last versions of all removed memberships. The first change of each new
   * membership gets a higher version.
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
 * - `sync_cancelled`: a newer full sync has begun, or an earlier input of the full sync was ignored
 *   or may be lost (see `begun`).
 */
export const staleReasons = ['sync_closed', 'sync_cancelled'] as const
export type StaleReason = (typeof staleReasons)[number]

/** Returns why an input of a sync must be ignored; `undefined` when the input is accepted. */
export function staleReason(mark: AudienceWatermark, sync: SyncPart): StaleReason | undefined {
  if (sync.syncId <= mark.closed) return 'sync_closed'
  return sync.mode === 'full' && sync.syncId < mark.begun ? 'sync_cancelled' : undefined
}

/**
 * Whether this is the first input of a full sync, which cancels all earlier full syncs that have
 * not ended.
 */
export const beginsSync = (mark: AudienceWatermark, { syncId: id, mode }: SyncPart): boolean =>
  mode === 'full' && id > mark.begun

export const afterSyncStart = (mark: AudienceWatermark, sync: SyncPart, position: number): AudienceWatermark => ({
  ...mark,
  begun: sync.syncId,
  position,
})

/**
 * Whether an input that is ignored, because its audience is not in the configuration, must cancel
 * its full sync. The end of a full sync removes all users that the sync did not list, so it would
 * remove a user whom the ignored input listed.
 */
export const isLostInputFatal = (mark: AudienceWatermark, sync: SyncPart): boolean =>
  sync.mode === 'full' && staleReason(mark, sync) === undefined

/** Returns the watermark that cancels a full sync after `isLostInputFatal`. */
export const afterLostInput = (mark: AudienceWatermark, sync: SyncPart, position: number): AudienceWatermark => ({
  ...mark,
  begun: syncId(sync.syncId + 1),
  position,
})

/**
 * Returns the watermark that cancels all full syncs that began before `at`, because an input that
 * Kafka appended before then is lost or could not be decoded. It may have listed users in one of
 * the syncs. `undefined` when the syncs are cancelled already.
 *
 * If `at` lies in the future, `now` is used instead. This is possible if the topic has the times of
 * producers (`CreateTime`), and another program wrote the record.
 */
export function afterUnreadInput(
  mark: AudienceWatermark,
  position: number,
  at: EpochMs,
  now: EpochMs,
): AudienceWatermark | undefined {
  // Plus 1 ms, so that a sync that began in the millisecond `at` is cancelled too.
  const begun = clampedToNow(syncId(versionAt(epochMs(at + 1))), now)
  // After Kafka has truncated the input topic, `position` can be lower than `mark.position`. A
  // restore ignores a watermark with a lower position than an earlier one.
  return begun <= mark.begun ? undefined : { ...mark, begun, position: Math.max(mark.position, position) }
}

/**
 * How long inputs of a sync are accepted after its begin: the retention of the audience input
 * topic.
 */
const syncAcceptedForMs: DurationMs = durationMs(7 * 24 * 3_600_000)

/**
 * The watermark after the end of a sync that `staleReason` does not reject; `undefined` when it
 * stays the same.
 * - A full sync closes itself and all earlier syncs.
 * - A partial sync closes the syncs that began more than 7 days before `at`. Otherwise the state of
 *   a user whom a partial sync removed would be kept until the next full sync, which may never
 *   come.
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
 * The watermark after a reset of the whole audience: sync ids that lie in the future become the id
 * for the time `at`.
 */
export function resetWatermark(mark: AudienceWatermark, position: number, at: EpochMs): AudienceWatermark | undefined {
  const lowered = { ...mark, begun: clampedToNow(mark.begun, at), closed: clampedToNow(mark.closed, at), position }
  return lowered.begun === mark.begun && lowered.closed === mark.closed ? undefined : lowered
}

/**
 * Returns the watermark that must be written before memberships are removed. `version` is the
 * highest version of their changes.
 */
export const withRaisedFloor = (
  mark: AudienceWatermark,
  version: number,
  position: number,
): AudienceWatermark | undefined => (version <= mark.floor ? undefined : { ...mark, floor: version, position })
