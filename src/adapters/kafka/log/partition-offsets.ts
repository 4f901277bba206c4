import type { TopicPartition } from '../../../core/ports.ts'
import type { EpochMs } from '../../../core/time.ts'
import { toKafkaError } from '../kafkajs/errors.ts'
import type { Cluster } from '../kafkajs/private-api.ts'
import { rejectAfterAllSettled } from './cluster-client.ts'

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
  const fromBeginning = side === 'beginning'
  const [answer] = await cluster.fetchTopicsOffset([{ topic, partitions: [{ partition }], fromBeginning }])
  const offset = answer?.partitions[0]?.offset
  if (offset === undefined) throw new Error(`the leader of ${topic}/${partition} is unknown`)
  return Number(offset)
}

/**
 * Returns the offset of the first record with this timestamp or a later one; `undefined` when there
 * is none.
 * @throws KafkaError
 */
export async function fetchOffsetSince(
  cluster: Cluster,
  { topic, partition }: TopicPartition,
  since: EpochMs,
): Promise<number | undefined> {
  try {
    const [answer] = await cluster.fetchTopicsOffset([
      { topic, partitions: [{ partition }], fromBeginning: false, fromTimestamp: since },
    ])
    const offset = Number(answer?.partitions[0]?.offset ?? -1)
    return offset < 0 ? undefined : offset
  } catch (error) {
    throw toKafkaError(`cannot read the offsets of ${topic}/${partition}`, error)
  }
}
