import { pause } from '../../core/pause.ts'
import type { Clock, TopicPartition } from '../../core/ports.ts'
import { type DurationMs, durationMs, type EpochMs } from '../../core/units.ts'
import { offsetOf } from './assignment.ts'
import type { KafkaClient } from './client.ts'
import { codeOfThrown, kafkaError, topicMissing } from './errors.ts'
import { type Batch, type Cluster, type FetchedPartition, internal } from './internals.ts'
import { loadKafkajs } from './library.ts'

/** All that one fetch brings to memory. */
const fetchBytes = 2 * 1024 * 1024
const readCommitted = 1

/** Tries without getting on before a reader gives up: over all some ten seconds, enough for the election of a leader. */
export const patience = 12
export const retryAfter = (attempt: number): DurationMs => durationMs(Math.min(50 * 2 ** attempt, 1_000))

/** Waits, and then asks anew who leads what: for the next try of something that met no broker that could answer. */
export async function lookAnew(clock: Clock, cluster: Cluster, after: DurationMs): Promise<void> {
  await pause(clock, after)
  await cluster.refreshMetadata().catch(() => undefined)
}

/** A consumer that never runs has all that it takes to fetch. */
export function clusterOf(kafka: KafkaClient): Cluster {
  const { roundRobin } = loadKafkajs().PartitionAssigners
  let cluster: unknown
  kafka.consumer({
    groupId: 'none',
    allowAutoTopicCreation: false,
    partitionAssigners: [
      config => {
        cluster = config.cluster
        return roundRobin(config)
      },
    ],
  })
  return cluster as Cluster
}

/** Connects. @throws KafkaError, `TOPIC_MISSING` for one. */
export async function partitionsOf(cluster: Cluster, topic: string): Promise<readonly number[]> {
  try {
    await cluster.connect()
    await cluster.addTargetTopic(topic)
    return cluster.findTopicPartitionMetadata(topic).map(({ partitionId }) => partitionId)
  } catch (error) {
    if (codeOfThrown(error) === 'UNKNOWN_TOPIC_OR_PARTITION') throw topicMissing(topic, error)
    throw kafkaError(`topic ${topic} cannot be read`, error)
  }
}

export interface Range extends TopicPartition {
  readonly beginning: number
  /** The end of what is committed: an open transaction does not hold the reader up. */
  readonly end: number
}

/** @throws KafkaError */
export async function rangeOf(cluster: Cluster, topic: string, partition: number): Promise<Range> {
  try {
    const at = (side: 'beginning' | 'end'): Promise<number> => offsetOf({ cluster }, { topic, partition }, side)
    const [beginning, end] = await allEnded([at('beginning'), at('end')])
    return { topic, partition, beginning: beginning as number, end: end as number }
  } catch (error) {
    throw kafkaError(`ends of ${topic}/${partition} cannot be read`, error)
  }
}

/** As `Promise.all`, but rejects only when all of them have ended: who still asks when the cluster is given up would connect it again. */
export async function allEnded<T>(asked: readonly Promise<T>[]): Promise<readonly T[]> {
  await Promise.allSettled(asked)
  return Promise.all(asked)
}

/** The first record that was appended at this time or later; undefined: none yet. @throws KafkaError */
export async function offsetSince(
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
    throw kafkaError(`offsets of ${topic}/${partition} cannot be read`, error)
  }
}

/** The node that leads a partition, as far as is known; -1: none. */
export const leaderOf = (cluster: Cluster, topic: string, partition: number): number =>
  cluster.findTopicPartitionMetadata(topic).find(({ partitionId }) => partitionId === partition)?.leader ?? -1

/** What is to be fetched from one node. */
export interface FetchRequest {
  readonly node: number
  readonly topic: string
  readonly wanted: readonly { readonly partition: number; readonly position: number }[]
  /** So long the node keeps a fetch that has nothing to answer with. */
  readonly maxWaitMs: number
  /** All that it may bring; what is held in memory is several times that. */
  readonly maxBytes?: number | undefined
}

/** What a fetch brought of one partition. */
export interface Fetched {
  readonly partition: number
  /** Without aborted and control records. */
  readonly records: Batch['messages']
  /** Where to go on; it has not moved when there was nothing. */
  readonly next: number
  /** The end of what could be had. */
  readonly end: number
}

/** One answer for each partition. @throws what kafkajs throws, for all of them when one has an error. */
export async function fetchFrom(
  cluster: Cluster,
  { node, topic, wanted, maxWaitMs, maxBytes = fetchBytes }: FetchRequest,
): Promise<readonly Fetched[]> {
  const BatchOf = internal<new (topic: string, offset: string, data: FetchedPartition) => Batch>('consumer/batch')
  const positions = new Map(wanted.map(({ partition, position }) => [partition, position]))
  const broker = await cluster.findBroker({ nodeId: node })
  const { responses } = await broker.fetch({
    maxWaitTime: maxWaitMs,
    minBytes: 1,
    maxBytes,
    isolationLevel: readCommitted,
    topics: [{ topic, partitions: [...positions].map(of => wantedOf(of, maxBytes)) }],
  })
  return responses
    .flatMap(({ partitions }) => partitions)
    .map(data => {
      const position = positions.get(data.partition) ?? 0
      const batch = new BatchOf(topic, String(position), data)
      const next = batch.rawMessages.length === 0 ? position : Number(batch.lastOffset()) + 1
      const end = Math.min(Number(data.highWatermark), Number(data.lastStableOffset))
      return { partition: data.partition, records: batch.messages, next: Math.max(next, position), end }
    })
}

const wantedOf = ([partition, position]: readonly [number, number], maxBytes: number) => ({
  partition,
  fetchOffset: String(position),
  maxBytes,
})
