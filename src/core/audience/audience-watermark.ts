import { type DurationMs, durationMs, type EpochMs, epochMs } from '../time.ts'
import { clampedToNow, highestSyncId, idsPerMs, isDayBefore, type SyncId, syncId, versionAt } from './sync-id.ts'

/**
 * `full`: the sync lists all members. `partial`: it adds or removes only the users that it lists.
 */
export const syncModes = ['full', 'partial'] as const
export type SyncMode = (typeof syncModes)[number]

/**
 * What must be known about an audience in one partition after memberships are removed: which syncs
 * are closed, and which versions were used.
 */
export interface AudienceWatermark {
  /**
   * Full syncs with a lower id are cancelled. Normally the id of the newest full sync; higher when
   * this sync is cancelled too (`afterSyncCancellation`, `afterUnreadInput`).
   */
  readonly cancelledBelow: SyncId
  /** Inputs of syncs with this id or a smaller one are ignored (see `afterSyncEnd`). */
  readonly closedUpTo: SyncId
  /**
   * An upper bound for the versions of all removed memberships, so that new memberships get higher
   * versions.
   */
  readonly versionFloor: number
  /** Offset of the last input that changed this watermark. */
  readonly position: number
}

/** The watermark of an audience without inputs. */
export const emptyWatermark: AudienceWatermark = {
  cancelledBelow: syncId(0),
  closedUpTo: syncId(0),
  versionFloor: 0,
  position: -1,
}

export interface SyncPart {
  readonly syncId: SyncId
  readonly mode: SyncMode
}

/**
 * Why an input is ignored. `sync_closed`: the id of its sync is at most `closedUpTo`.
 * `sync_cancelled`: a newer full sync has begun, or an earlier input of this sync was ignored or
 * lost.
 */
export const staleReasons = ['sync_closed', 'sync_cancelled'] as const
export type StaleReason = (typeof staleReasons)[number]

/** Returns why an input of a sync must be ignored; `undefined` when the input is accepted. */
export function staleReason(watermark: AudienceWatermark, sync: SyncPart): StaleReason | undefined {
  if (sync.syncId <= watermark.closedUpTo) return 'sync_closed'
  return sync.mode === 'full' && sync.syncId < watermark.cancelledBelow ? 'sync_cancelled' : undefined
}

/**
 * Whether this is the first input of a full sync, which cancels all earlier full syncs that have
 * not ended.
 */
export const beginsSync = (watermark: AudienceWatermark, { syncId: id, mode }: SyncPart): boolean =>
  mode === 'full' && id > watermark.cancelledBelow

export const afterSyncStart = (watermark: AudienceWatermark, sync: SyncPart, position: number): AudienceWatermark => ({
  ...watermark,
  cancelledBelow: sync.syncId,
  position,
})

/**
 * Whether an input that Hookline ignores must cancel its full sync. Without the cancellation, the
 * end of the sync would remove the user that the input listed.
 */
export const mustCancelSync = (watermark: AudienceWatermark, sync: SyncPart): boolean =>
  sync.mode === 'full' && staleReason(watermark, sync) === undefined

/** Returns the watermark after an ignored input for which `mustCancelSync` is true. */
export const afterSyncCancellation = (
  watermark: AudienceWatermark,
  sync: SyncPart,
  position: number,
): AudienceWatermark => ({
  ...watermark,
  cancelledBelow: syncId(sync.syncId + 1),
  position,
})

/**
 * Returns the sync ids in a watermark, for callers that look for the newest sync. Omits multiples
 * of `idsPerMs`, because Hookline may have computed them from a time, for example at a reset. If a
 * sync has an omitted id, callers also find this id in memberships.
 */
export const syncIdsIn = ({
  cancelledBelow,
  closedUpTo,
}: Pick<AudienceWatermark, 'cancelledBelow' | 'closedUpTo'>): readonly SyncId[] =>
  [cancelledBelow, closedUpTo].filter(id => id % idsPerMs !== 0)

/**
 * Returns a watermark that cancels all full syncs in which an unread input may have listed users;
 * `undefined` if these syncs are cancelled already.
 * @param at when the input was appended, or when its loss was found
 */
export function afterUnreadInput(
  watermark: AudienceWatermark,
  position: number,
  at: EpochMs,
  now: EpochMs,
): AudienceWatermark | undefined {
  // Also cancels syncs that begin up to a minute after the lost input: the clock of the broker that
  // gave the sync id may be ahead, and the lost input may be the first one of its sync.
  const cancelledBelow = highestSyncId(epochMs(Math.min(at, now)))
  // After a truncation of the input topic, `position` can be lower than that of the watermark. The
  // higher one is kept, because a restore would ignore a watermark with a lower position.
  return cancelledBelow <= watermark.cancelledBelow
    ? undefined
    : { ...watermark, cancelledBelow, position: Math.max(watermark.position, position) }
}

/**
 * How long inputs of a sync are accepted after the sync began: the retention of the audience input
 * topic.
 */
const syncAcceptedForMs: DurationMs = durationMs(7 * 24 * 3_600_000)

/**
 * The watermark after the end of a sync that `staleReason` accepts; `undefined` when it stays the
 * same.
 * - A full sync closes itself and all earlier syncs.
 * - A partial sync closes syncs that began over 7 days before its end: a full sync may never come.
 * @param at when the end of the sync was appended
 */
export function afterSyncEnd(
  watermark: AudienceWatermark,
  sync: SyncPart,
  position: number,
  at: EpochMs,
): AudienceWatermark | undefined {
  const old = syncId((at - syncAcceptedForMs) * idsPerMs)
  // Partial syncs close earlier syncs at most once a day, because this visits all memberships of
  // the audience.
  if (sync.mode === 'partial' && !isDayBefore(watermark.closedUpTo, old)) return undefined
  const upTo = sync.mode === 'full' ? sync.syncId : old
  return { ...watermark, closedUpTo: upTo, versionFloor: Math.max(watermark.versionFloor, versionAt(at)), position }
}

/**
 * Returns the watermark after a reset of the whole audience; `undefined` if it stays the same. Sync
 * ids with a time in the future become the id for the time `at`.
 */
export function resetWatermark(
  watermark: AudienceWatermark,
  position: number,
  at: EpochMs,
): AudienceWatermark | undefined {
  const cancelledBelow = clampedToNow(watermark.cancelledBelow, at)
  const closedUpTo = clampedToNow(watermark.closedUpTo, at)
  if (cancelledBelow === watermark.cancelledBelow && closedUpTo === watermark.closedUpTo) return undefined
  return { ...watermark, cancelledBelow, closedUpTo, position }
}

/**
 * Returns the watermark that must be written before memberships are removed; `undefined` if it
 * stays the same. `version` is the highest version of the removed memberships.
 */
export const withRaisedFloor = (
  watermark: AudienceWatermark,
  version: number,
  position: number,
): AudienceWatermark | undefined =>
  version <= watermark.versionFloor ? undefined : { ...watermark, versionFloor: version, position }
