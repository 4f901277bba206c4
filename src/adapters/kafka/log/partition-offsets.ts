import type { TopicPartition } from '../../../core/ports.ts'
import type { EpochMs } from '../../../core/time.ts'
import { toKafkaError } from '../kafkajs/errors.ts'
import { brokerError, leaderNotAvailable } from '../kafkajs/patch-metadata.ts'
import type { Cluster } from '../kafkajs/private-api.ts'
import { rejectAfterAllSettled } from './reject-after-all-settled.ts'

export interface OffsetRange extends TopicPartition {
  readonly beginning: number
  /** The last stable offset: a read to this offset does not wait for an open transaction. */
  readonly end: number
}

/**
 * Returns the first offset and the last stable offset of a partition.
 * @throws KafkaError
 */
export async function fetchOffsetRange(cluster: Cluster, topic: string, partition: number): Promise<OffsetRange> {
  try {
    const at = (side: 'beginning' | 'end'): Promise<number> => fetchOffset(cluster, { topic, partition }, side)
    const [beginning, end] = await rejectAfterAllSettled([at('beginning'), at('end')])
    return { topic, partition, beginning: beginning as number, end: end as number }
  } catch (error) {
    throw toKafkaError(`cannot read the offsets of ${topic}/${partition}`, error)
  }
}

/**
 * Returns the first offset (`beginning`) or the last stable offset (`end`) of a partition.
 * @throws an error when the partition has no known leader, or the leader does not respond
 */
export async function fetchOffset(
  cluster: Cluster,
  { topic, partition }: TopicPartition,
  side: 'beginning' | 'end',
): Promise<number> {
  return listOffset(cluster, { topic, partitions: [{ partition }], fromBeginning: side === 'beginning' })
}

/**
 * Returns the offset of the first record at or after this time; `undefined` if the partition has
 * none.
 * @throws KafkaError
 */
export async function fetchOffsetSince(
  cluster: Cluster,
  { topic, partition }: TopicPartition,
  since: EpochMs,
): Promise<number | undefined> {
  try {
    // In a ListOffsets request, negative times have special meanings: -1 is the end.
    const fromTimestamp = Math.max(0, since)
    const asked = { topic, partitions: [{ partition }], fromBeginning: false, fromTimestamp }
    const offset = await listOffset(cluster, asked)
    return offset < 0 ? undefined : offset
  } catch (error) {
    throw toKafkaError(`cannot read the offsets of ${topic}/${partition}`, error)
  }
}

/**
 * Requests one offset of one partition.
 * @throws LEADER_NOT_AVAILABLE when kafkajs's metadata does not have the partition
 */
async function listOffset(
  cluster: Cluster,
  asked: Parameters<Cluster['fetchTopicsOffset']>[0][number],
): Promise<number> {
  const [answer] = await cluster.fetchTopicsOffset([asked])
  const offset = answer?.partitions[0]?.offset
  if (offset === undefined) throw brokerError(leaderNotAvailable)
  return Number(offset)
}
