import type { Brand } from '../branded-type.ts'
import { murmur2 } from '../message/murmur2.ts'
import { type EpochMs, epochMs } from '../time.ts'

/**
 * Id of one sync of one audience. Later syncs have larger ids (see `newSyncId`). Until the year
 * 2100, ids are below 2^52. The Avro library rejects integers above 2^53.
 */
export type SyncId = Brand<number, 'SyncId'>

export const syncId = (value: number): SyncId => value as SyncId

/** Number of different sync ids in one millisecond. */
export const idsPerMs = 1024

/**
 * Creates the id of a sync that starts now by the brokers' clock. A sync that starts in a later
 * millisecond, on any machine, has a larger id. The id contains 10 bits of a hash of `unique`, so
 * two syncs in the same millisecond rarely have the same id.
 */
export function newSyncId(now: EpochMs, unique: string): SyncId {
  const chance = murmur2(Buffer.from(unique)) & (idsPerMs - 1)
  return syncId(now * idsPerMs + chance)
}

/**
 * The minimum version of the first change of a new membership, whose first input was appended at
 * `at`. It grows with the time, so when a user returns after the removal of the membership, the new
 * changes get higher versions than the earlier ones.
 */
export const versionAt = (at: EpochMs): number => at * idsPerMs

/** The time at which a sync began, by the brokers' clock. */
export const syncBegan = (id: SyncId): EpochMs => epochMs(Math.floor(id / idsPerMs))

/**
 * Maximum difference between the clocks of the brokers in ms, including the error of reading them.
 */
const aheadMs = 60_000

/**
 * Whether a sync id comes from a wrong clock. Until the time in this id, all other syncs would be
 * ignored as older.
 */
export const isAhead = (id: SyncId, at: EpochMs): boolean => id > versionAt(epochMs(at + aheadMs))

/** Returns the id of a sync. If it lies in the future, returns the id for the time `at` instead. */
export const clampedToNow = (id: SyncId, at: EpochMs): SyncId => (isAhead(id, at) ? syncId(versionAt(at)) : id)

const dayMs = 24 * 3_600_000

export const isDayBefore = (id: SyncId, later: SyncId): boolean => id + dayMs * idsPerMs <= later
