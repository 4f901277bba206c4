import type { TopicPartition } from '../../../core/ports.ts'
import type { Cluster } from '../kafkajs/private-api.ts'
import { fetchOffsetSince, type OffsetRange } from '../log/partition-offsets.ts'
import type { OwnedPartition } from './owned-partitions.ts'

/** A position that the log no longer has (OFFSET_OUT_OF_RANGE), and its replacement. */
export interface LostPosition extends TopicPartition {
  /** The old position. */
  readonly from: number
  /**
   * The new position. If it is above `from`, retention has deleted the records in between before
   * this group read them. If it is below `from`, the log was truncated
   * (`positionAfterTruncation`).
   */
  readonly to: number
}

/** The offset from `beginning` to `end` that is closest to `position`. */
export function nearestOffset(position: number, beginning: number, end: number): number {
  return Math.min(Math.max(position, beginning), end)
}

/**
 * Returns where to continue in a log that was truncated below the position. Kafka gives the
 * truncated offsets to new records, perhaps also to those before the end that was read now. So the
 * result is the first record that is as new as the last one that was read.
 *
 * The result is at most the committed offset, because the records after it may be unfinished. If no
 * record was read, the result is the beginning of the log, because the position was the committed
 * offset, which was truncated: a repeated record is better than a lost one.
 * @throws an error when the leader of the partition does not respond
 */
export async function positionAfterTruncation(
  cluster: Cluster,
  { lastTimestamp, committed, ...partition }: OwnedPartition,
  { beginning, end }: Pick<OffsetRange, 'beginning' | 'end'>,
): Promise<number> {
  if (lastTimestamp === undefined || committed === undefined) return beginning
  const unread = (await fetchOffsetSince(cluster, partition, lastTimestamp)) ?? end
  return nearestOffset(Math.min(committed.offset, unread), beginning, end)
}

/**
 * How many offsets were skipped. For a truncated log the result is 1, because the number of lost
 * records is not known.
 */
export const skippedOffsets = ({ from, to }: Pick<LostPosition, 'from' | 'to'>): number => Math.max(1, to - from)
