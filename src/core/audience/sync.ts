import { murmur2 } from '../message/murmur2.ts'
import { type DurationMs, durationMs, type EpochMs, epochMs } from '../units.ts'

/** Names one sync of one audience. Later ones are larger. Up to the year 2100 below 2^52, beyond which Avro loses digits. */
export type SyncId = number & { readonly __brand: 'SyncId' }

export const syncId = (value: number): SyncId => value as SyncId

/** Ids that begin in the same millisecond. */
const idsPerMs = 1024

/**
 * The id of a sync that begins now, by the brokers' time: whichever machine begins the next one, its
 * id is larger. `unique` is any new id: two that begin in one millisecond take different ones.
 */
export function newSyncId(now: EpochMs, unique: string): SyncId {
  const chance = murmur2(Buffer.from(unique)) & (idsPerMs - 1)
  return syncId(now * idsPerMs + chance)
}

/**
 * Versions that begin with an input appended then: a user who comes again has later ones, whatever is known of before. On the scale of sync ids.
 */
export const versionAt = (at: EpochMs): number => at * idsPerMs

/** When a sync began, by the brokers' time. */
export const syncBegan = (id: SyncId): EpochMs => epochMs(Math.floor(id / idsPerMs))

/** Clocks of brokers, and the time that is learned of them, differ by less. */
const aheadMs = 60_000

/** Whether a sync began by a clock that is ahead of the brokers' time: until then no other is newer. */
export const isAhead = (id: SyncId, at: EpochMs): boolean => id > versionAt(epochMs(at + aheadMs))

/** What is known of a sync, once everything before this time counts as older, also what claims to be ahead. */
export const notAhead = (id: SyncId, at: EpochMs): SyncId => (isAhead(id, at) ? syncId(versionAt(at)) : id)

const dayMs = 24 * 3_600_000

/** Whether one sync began a day or more before another. */
export const isDayBefore = (id: SyncId, later: SyncId): boolean => id + dayMs * idsPerMs <= later

/** `full`: these users and no others. `partial`: only adds and removes. */
export const syncModes = ['full', 'partial'] as const
export type SyncMode = (typeof syncModes)[number]

/**
 * What is known of an audience as a whole, in each partition: kept beside the memberships, one record an audience. It holds
 * what a key that is gone would have to remember.
 */
export interface AudienceMark {
  /** The newest full sync of which anything was seen. */
  readonly begun: SyncId
  /** What a sync up to this one still says is ignored: a full sync that ended said all there is, or it is too long ago. */
  readonly closed: SyncId
  /** No version up to this one is used for a user who comes (again): keys that are gone had none beyond. */
  readonly floor: number
  /** Offset of the last input that changed this. */
  readonly position: number
}

/** Of an audience of which nothing was seen. */
export const noMark: AudienceMark = { begun: syncId(0), closed: syncId(0), floor: 0, position: -1 }

export interface SyncPart {
  readonly syncId: SyncId
  readonly mode: SyncMode
}

/** Why an observation, or the end of a sync, says nothing. */
export const staleReasons = ['sync_closed', 'sync_cancelled'] as const
export type StaleReason = (typeof staleReasons)[number]

/** Whether what a sync says comes too late: a newer full one has ended, or has begun while this full one was not finished. */
export function staleReason(mark: AudienceMark, sync: SyncPart): StaleReason | undefined {
  if (sync.syncId <= mark.closed) return 'sync_closed'
  return sync.mode === 'full' && sync.syncId < mark.begun ? 'sync_cancelled' : undefined
}

/** Whether this is the first that is seen of a full sync: it cancels the unfinished ones before it. */
export const beginsSync = (mark: AudienceMark, { syncId: id, mode }: SyncPart): boolean =>
  mode === 'full' && id > mark.begun

/** The mark once a full sync was seen that `beginsSync`. */
export const begun = (mark: AudienceMark, sync: SyncPart, position: number): AudienceMark => ({
  ...mark,
  begun: sync.syncId,
  position,
})

/** Whether what is lost of a sync now has to end it: who is not named in the rest of a full one may have been named in that. */
export const losesPart = (mark: AudienceMark, sync: SyncPart): boolean =>
  sync.mode === 'full' && staleReason(mark, sync) === undefined

/** The mark once something was lost of a sync that `losesPart`: as if a newer one had cancelled it. */
export const cutShort = (mark: AudienceMark, sync: SyncPart, position: number): AudienceMark => ({
  ...mark,
  begun: syncId(sync.syncId + 1),
  position,
})

/** So long the records of a sync are taken: as long as Kafka keeps them on the input topic. */
const syncLastsMs: DurationMs = durationMs(7 * 24 * 3_600_000)
/** Partial syncs close what is older only so often: each closing goes through all members. */
const closingEveryMs = dayMs

/**
 * The mark after the end of a sync that is not stale. A full one closes itself and all before; a partial one closes what began
 * over 7 days before (`at`: when its end was appended), or nothing (undefined), so that users whom only partial syncs took out
 * are forgotten too. All versions so far are below the floor then.
 */
export function closed(mark: AudienceMark, sync: SyncPart, position: number, at: EpochMs): AudienceMark | undefined {
  const old = syncId((at - syncLastsMs) * idsPerMs)
  if (sync.mode === 'partial' && old < mark.closed + closingEveryMs * idsPerMs) return undefined
  const upTo = sync.mode === 'full' ? sync.syncId : old
  return { ...mark, closed: upTo, floor: Math.max(mark.floor, versionAt(at)), position }
}

/** The mark after a reset of the whole audience; undefined when none of its syncs is ahead. */
export function resetMark(mark: AudienceMark, position: number, at: EpochMs): AudienceMark | undefined {
  const lowered = { ...mark, begun: notAhead(mark.begun, at), closed: notAhead(mark.closed, at), position }
  return lowered.begun === mark.begun && lowered.closed === mark.closed ? undefined : lowered
}

/** The mark before a key of this audience is forgotten whose last version was this one; undefined when it says so already. */
export const raised = (mark: AudienceMark, version: number, position: number): AudienceMark | undefined =>
  version <= mark.floor ? undefined : { ...mark, floor: version, position }
