import type { TopicPartition } from '../../../core/ports.ts'
import { epochMs } from '../../../core/time.ts'
import type { Cluster } from '../kafkajs/private-api.ts'
import { fetchOffsetSince, type OffsetRange } from '../log/partition-offsets.ts'
import type { OwnedPartition } from './owned-partitions.ts'

/** A position that the log no longer has (OFFSET_OUT_OF_RANGE), and its replacement. */
export interface LostPosition extends TopicPartition {
  /** The old position. */
  readonly from: number
  /**
   * The new position. Above `from`: retention has deleted records that this group has not read.
   * Below `from`: the log was truncated.
   */
  readonly to: number
}

/** The offset from `beginning` to `end` that is closest to `position`. */
export function nearestOffset(position: number, beginning: number, end: number): number {
  return Math.min(Math.max(position, beginning), end)
}

/**
 * Maximum milliseconds by which the clock of a new leader may be behind that of the old leader.
 * With a larger value, more records are repeated after a truncation.
 */
const maxClockDifferenceMs = 60_000

/**
 * Finds the offset at which to continue after a truncation. It compares append times, because Kafka
 * gives truncated offsets to new records. The result is at most the committed offset: the work on
 * later records may be unfinished.
 * @throws when the leader does not respond
 */
export async function positionAfterTruncation(
  cluster: Cluster,
  { lastTimestamp, committed, ...partition }: OwnedPartition,
  { beginning, end }: Pick<OffsetRange, 'beginning' | 'end'>,
): Promise<number> {
  if (lastTimestamp === undefined || committed === undefined) return beginning
  const since = epochMs(lastTimestamp - maxClockDifferenceMs)
  const unread = (await fetchOffsetSince(cluster, partition, since)) ?? end
  return nearestOffset(Math.min(committed.offset, unread), beginning, end)
}

/** How many offsets were skipped. For a truncated log this is unknown, and the result is 1. */
export const skippedOffsets = ({ from, to }: Pick<LostPosition, 'from' | 'to'>): number => Math.max(1, to - from)
