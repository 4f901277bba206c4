import type { Brand } from '../branded-type.ts'
import { murmur2 } from '../message/murmur2.ts'
import { type EpochMs, epochMs } from '../time.ts'

/**
 * The id of a sync. Later syncs have larger ids. Until 2100, ids are below 2^53, the limit of the
 * Avro library.
 */
export type SyncId = Brand<number, 'SyncId'>

export const syncId = (value: number): SyncId => value as SyncId

/** Number of different sync ids in one millisecond. */
export const idsPerMs = 1024

/**
 * Creates a sync id from the brokers' clock and 10 bits of a hash of `unique`, because two syncs
 * may start in one millisecond.
 */
export function newSyncId(now: EpochMs, unique: string): SyncId {
  const chance = murmur2(Buffer.from(unique)) & (idsPerMs - 1)
  return syncId(now * idsPerMs + chance)
}

/**
 * The minimum version of a new membership's first change. It grows with time, so a returning user
 * gets higher versions than before.
 */
export const versionAt = (at: EpochMs): number => at * idsPerMs

/** The time at which a sync began, by the brokers' clock. */
export const syncBegan = (id: SyncId): EpochMs => epochMs(Math.floor(id / idsPerMs))

/**
 * Maximum difference between the clocks of the brokers in ms, including the error of reading them.
 */
const aheadMs = 60_000

/** The highest possible id of a sync that began at `at` or earlier, by the clock of any broker. */
export const highestSyncId = (at: EpochMs): SyncId => syncId(versionAt(epochMs(at + aheadMs)))

/**
 * Whether the time of a sync id lies in the future, because a clock was wrong. Until that time, all
 * other syncs would have lower ids, and Hookline would ignore them.
 */
export const isAhead = (id: SyncId, at: EpochMs): boolean => id > highestSyncId(at)

/** Returns `id`. If its time lies in the future, returns the id for the time `at` instead. */
export const clampedToNow = (id: SyncId, at: EpochMs): SyncId => (isAhead(id, at) ? syncId(versionAt(at)) : id)

const dayMs = 24 * 3_600_000

export const isDayBefore = (id: SyncId, later: SyncId): boolean => id + dayMs * idsPerMs <= later
