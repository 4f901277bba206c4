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
   * The new position. If it is above `from`, retention has deleted the records from `from` to `to`
   * before this group could read them. If it is below `from`, the log was truncated
   * (`positionAfterTruncation`).
   */
  readonly to: number
}

/** The offset from `beginning` to `end` that is closest to `position`. */
export function nearestOffset(position: number, beginning: number, end: number): number {
  return Math.min(Math.max(position, beginning), end)
}

/**
 * By how many milliseconds the clock of a new leader may be behind the clock of the old leader.
 * After a truncation, the member continues this many milliseconds before the last record that it
 * has read, so a larger value makes it repeat more records.
 */
const maxClockDifferenceMs = 60_000

/**
 * Returns the offset at which to continue in a log that was truncated below the position. Kafka
 * gives the truncated offsets to new records, so the old position may already be after some new
 * records. Therefore the result depends on timestamps: it is the offset of the first record that is
 * at most `maxClockDifferenceMs` older than the last record that this member has read.
 *
 * - The result is at most the committed offset, because the work for the records after the
 *   committed offset may be unfinished.
 * - If this member has read no record, or knows no committed offset, the result is the beginning of
 *   the log. A repeated record is better than a lost one.
 * @throws an error when the leader of the partition does not respond
 */
export async function positionAfterTruncation(
  cluster: Cluster,
  { lastTimestamp, committed, ...partition }: OwnedPartition,
  { beginning, end }: Pick<OffsetRange, 'beginning' | 'end'>,
): Promise<number> {
  if (lastTimestamp === undefined || committed === undefined) return beginning
  const since = epochMs(Math.max(0, lastTimestamp - maxClockDifferenceMs))
  const unread = (await fetchOffsetSince(cluster, partition, since)) ?? end
  return nearestOffset(Math.min(committed.offset, unread), beginning, end)
}

/**
 * How many offsets were skipped. For a truncated log the result is 1, because the number of lost
 * records is not known.
 */
export const skippedOffsets = ({ from, to }: Pick<LostPosition, 'from' | 'to'>): number => Math.max(1, to - from)
