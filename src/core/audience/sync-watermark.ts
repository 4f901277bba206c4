import { murmur2 } from '../message/murmur2.ts'
import { type DurationMs, durationMs, type EpochMs, epochMs } from '../units.ts'

/**
 * Id of one sync of one audience. Later syncs have larger ids. Ids stay below 2^52 until the year
 * 2100. The Avro library rejects integers above 2^53, because they may have lost digits.
 */
export type SyncId = number & { readonly __brand: 'SyncId' }

export const syncId = (value: number): SyncId => value as SyncId

/** Number of different ids per millisecond. */
const idsPerMs = 1024

/**
 * Creates the id of a sync that starts now by the brokers' clock. A sync that another machine
 * starts later has a larger id. `unique` is any unique text; it separates syncs that start in the
 * same millisecond.
 */
export function newSyncId(now: EpochMs, unique: string): SyncId {
  const chance = murmur2(Buffer.from(unique)) & (idsPerMs - 1)
  return syncId(now * idsPerMs + chance)
}

/**
 * The first version of a membership whose input was appended at this time. Versions have the scale
 * of sync ids and grow with the time, so that a user who returns gets higher ones than before, even
 * when the earlier state is gone.
 */
export const versionAt = (at: EpochMs): number => at * idsPerMs

/** The time at which a sync began, by the brokers' clock. */
export const syncBegan = (id: SyncId): EpochMs => epochMs(Math.floor(id / idsPerMs))

/** Maximum difference between the clocks of the brokers, including the error of reading them. */
const aheadMs = 60_000

/**
 * Whether the id of a sync lies in the future, because its machine's clock was ahead of the
 * brokers' clock. Until the time of the id, no other sync counts as newer.
 */
export const isAhead = (id: SyncId, at: EpochMs): boolean => id > versionAt(epochMs(at + aheadMs))

/** Returns the id of a sync, lowered to the time `at` when it lies in the future. */
export const clampedToNow = (id: SyncId, at: EpochMs): SyncId => (isAhead(id, at) ? syncId(versionAt(at)) : id)

const dayMs = 24 * 3_600_000

export const isDayBefore = (id: SyncId, later: SyncId): boolean => id + dayMs * idsPerMs <= later

/** `full`: the sync lists all members. `partial`: it only adds and removes users. */
export const syncModes = ['full', 'partial'] as const
export type SyncMode = (typeof syncModes)[number]

/**
 * The watermark of an audience in one partition, stored beside the memberships. With it,
 * memberships can be removed safely: it says which syncs are closed and which versions were used.
 */
export interface AudienceWatermark {
  /** The newest full sync of which an input was read. */
  readonly begun: SyncId
  /**
   * Inputs of syncs up to this id are ignored: this or a later full sync has ended, or the sync
   * began too long ago.
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

/** Why an observation or the end of a sync is ignored. */
export const staleReasons = ['sync_closed', 'sync_cancelled'] as const
export type StaleReason = (typeof staleReasons)[number]

/**
 * Returns why an input of a sync comes too late: a newer full sync ended, or a newer full sync
 * began before this full sync ended.
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
 * Whether the loss of this input has to cancel its sync. A full sync removes all users that it does
 * not list, and the lost input may have listed one.
 */
export const isLostInputFatal = (mark: AudienceWatermark, sync: SyncPart): boolean =>
  sync.mode === 'full' && staleReason(mark, sync) === undefined

/**
 * The watermark after a full sync lost an input (see `isLostInputFatal`). It cancels the sync, as a
 * newer full sync would.
 */
export const afterLostInput = (mark: AudienceWatermark, sync: SyncPart, position: number): AudienceWatermark => ({
  ...mark,
  begun: syncId(sync.syncId + 1),
  position,
})

/** Inputs of a sync are accepted for this time after it began: the retention of the input topic. */
const syncAcceptedForMs: DurationMs = durationMs(7 * 24 * 3_600_000)
/** Minimum time between two closings by partial syncs, because each closing visits all members. */
const minClosingIntervalMs = dayMs

/**
 * The watermark after the end of a sync that is not stale, or `undefined` when nothing changes. A
 * full sync closes itself and all earlier syncs. A partial sync closes the syncs that began more
 * than 7 days before `at`, so that the memberships of users whom only partial syncs removed can be
 * removed too. The floor rises to `versionAt(at)`.
 * @param at when the end of the sync was appended
 */
export function afterSyncEnd(
  mark: AudienceWatermark,
  sync: SyncPart,
  position: number,
  at: EpochMs,
): AudienceWatermark | undefined {
  const old = syncId((at - syncAcceptedForMs) * idsPerMs)
  if (sync.mode === 'partial' && old < mark.closed + minClosingIntervalMs * idsPerMs) return undefined
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
