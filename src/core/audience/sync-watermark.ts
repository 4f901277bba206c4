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
   * this sync is cancelled too (`afterLostInput`, `afterUnreadInput`).
   */
  readonly begun: SyncId
  /** Inputs of syncs with this id or a smaller one are ignored (see `afterSyncEnd`). */
  readonly closed: SyncId
  /**
   * An upper bound for the versions of all removed memberships, so that new memberships get higher
   * versions.
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
 * Why an input is ignored. `sync_cancelled`: a newer full sync has begun, or an earlier input of
 * this sync was ignored or lost.
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
 * Whether an ignored input must cancel its full sync, whose end would otherwise remove the user
 * that the input listed.
 */
export const isLostInputFatal = (mark: AudienceWatermark, sync: SyncPart): boolean =>
  sync.mode === 'full' && staleReason(mark, sync) === undefined

/** Returns the watermark after a lost input for which `isLostInputFatal` is true. */
export const afterLostInput = (mark: AudienceWatermark, sync: SyncPart, position: number): AudienceWatermark => ({
  ...mark,
  begun: syncId(sync.syncId + 1),
  position,
})

/**
 * The sync ids in a watermark. A multiple of `idsPerMs` may be a time, so it is left out. If it is a
 * sync id, memberships have it too.
 */
export const syncIdsIn = ({ begun, closed }: Pick<AudienceWatermark, 'begun' | 'closed'>): readonly SyncId[] =>
  [begun, closed].filter(id => id % idsPerMs !== 0)

/**
 * Cancels all full syncs in which an unread input may have listed users. `undefined` if they are
 * cancelled already.
 * @param at when the input was appended, or when its loss was found
 */
export function afterUnreadInput(
  mark: AudienceWatermark,
  position: number,
  at: EpochMs,
  now: EpochMs,
): AudienceWatermark | undefined {
  // A sync that begins within a minute later must be repeated too: another broker, whose clock may
  // be ahead, gave the sync id, and the lost input may be the first one of its sync.
  const begun = highestSyncId(epochMs(Math.min(at, now)))
  // The higher position is kept, because a restore would ignore a watermark with a lower one. After
  // a truncation of the input topic, `position` can be lower.
  return begun <= mark.begun ? undefined : { ...mark, begun, position: Math.max(mark.position, position) }
}

/**
 * How long inputs of a sync are accepted after its begin: the retention of the audience input
 * topic.
 */
const syncAcceptedForMs: DurationMs = durationMs(7 * 24 * 3_600_000)

/**
 * The watermark after the end of a sync that `staleReason` accepts; `undefined` when it stays the
 * same.
 * - A full sync closes itself and all earlier syncs.
 * - A partial sync closes syncs that began over 7 days before, because a full sync may never come.
 * @param at when the end of the sync was appended
 */
export function afterSyncEnd(
  mark: AudienceWatermark,
  sync: SyncPart,
  position: number,
  at: EpochMs,
): AudienceWatermark | undefined {
  const old = syncId((at - syncAcceptedForMs) * idsPerMs)
  // Partial syncs close earlier syncs at most once a day, because this visits all memberships of
  // the audience.
  if (sync.mode === 'partial' && !isDayBefore(mark.closed, old)) return undefined
  const upTo = sync.mode === 'full' ? sync.syncId : old
  return { ...mark, closed: upTo, floor: Math.max(mark.floor, versionAt(at)), position }
}

/**
 * Returns the watermark after a reset of the whole audience; `undefined` if it stays the same. Sync
 * ids of the future become the id for the time `at`.
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
