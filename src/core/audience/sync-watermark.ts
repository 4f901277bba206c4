import { type DurationMs, durationMs, type EpochMs } from '../time.ts'
import { clampedToNow, idsPerMs, isDayBefore, type SyncId, syncId, versionAt } from './sync-id.ts'

/** `full`: the sync lists all members. `partial`: it only adds and removes users. */
export const syncModes = ['full', 'partial'] as const
export type SyncMode = (typeof syncModes)[number]

/**
 * The watermark of an audience in one partition, stored beside the memberships. With it,
 * memberships can be removed safely: it says which syncs are closed and which versions were used.
 */
export interface AudienceWatermark {
  /** The newest full sync of which an input was read, plus 1 when it was cancelled. */
  readonly begun: SyncId
  /**
   * Inputs of syncs with this id or a smaller one are ignored. It is the id of the newest full sync
   * that has ended, or an id for the time 7 days before the end of a partial sync (`afterSyncEnd`).
   */
  readonly closed: SyncId
  /**
   * Removed memberships had versions up to this one, so each new membership gets a higher version.
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
 * Why an observation or the end of a sync is ignored: the sync is closed, or a newer full sync or a
 * lost input has cancelled it.
 */
export const staleReasons = ['sync_closed', 'sync_cancelled'] as const
export type StaleReason = (typeof staleReasons)[number]

/**
 * Returns why an input of a sync comes too late: the sync is closed (see `closed`), or it is a full
 * sync and a newer full sync has begun.
 */
export function staleReason(mark: AudienceWatermark, sync: SyncPart): StaleReason | undefined {
  if (sync.syncId <= mark.closed) return 'sync_closed'
  return sync.mode === 'full' && sync.syncId < mark.begun ? 'sync_cancelled' : undefined
}

/**
 * Whether this is the first input of a full sync. A full sync cancels the unfinished ones before
 * it.
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
 * Whether an input that is ignored, because its audience is not configured, has to cancel its sync.
 * A full sync removes all users that it does not list, and the input may have listed one.
 */
export const isLostInputFatal = (mark: AudienceWatermark, sync: SyncPart): boolean =>
  sync.mode === 'full' && staleReason(mark, sync) === undefined

/**
 * The watermark that cancels the full sync of a lost input (see `isLostInputFatal`), as a newer
 * full sync would.
 */
export const afterLostInput = (mark: AudienceWatermark, sync: SyncPart, position: number): AudienceWatermark => ({
  ...mark,
  begun: syncId(sync.syncId + 1),
  position,
})

/** Inputs of a sync are accepted for this time after it began: the retention of the input topic. */
const syncAcceptedForMs: DurationMs = durationMs(7 * 24 * 3_600_000)

/**
 * The watermark after the end of a sync that is not stale. `undefined` when it does not change.
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
  // Closings by partial syncs are at least a day apart, because each closing visits all members.
  if (sync.mode === 'partial' && !isDayBefore(mark.closed, old)) return undefined
  const upTo = sync.mode === 'full' ? sync.syncId : old
  return { ...mark, closed: upTo, floor: Math.max(mark.floor, versionAt(at)), position }
}

/**
 * The watermark after a reset of the whole audience, `undefined` when nothing changes because no
 * sync id lies in the future.
 */
export function resetWatermark(mark: AudienceWatermark, position: number, at: EpochMs): AudienceWatermark | undefined {
  const lowered = { ...mark, begun: clampedToNow(mark.begun, at), closed: clampedToNow(mark.closed, at), position }
  return lowered.begun === mark.begun && lowered.closed === mark.closed ? undefined : lowered
}

/**
 * The watermark that has to be written before a membership with this version is removed,
 * `undefined` when the floor covers the version already.
 */
export const withRaisedFloor = (
  mark: AudienceWatermark,
  version: number,
  position: number,
): AudienceWatermark | undefined => (version <= mark.floor ? undefined : { ...mark, floor: version, position })
