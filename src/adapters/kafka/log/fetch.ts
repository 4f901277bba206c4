import { pause } from '../../../core/pause.ts'
import type { Clock, LogRecord, RecordHeaders, TopicPartition } from '../../../core/ports.ts'
import { type DurationMs, durationMs, type EpochMs, epochMs } from '../../../core/units.ts'
import type { KafkaClient } from '../kafkajs/client.ts'
import { codeOfThrown, kafkaError, topicMissing } from '../kafkajs/errors.ts'
import { loadKafkajs } from '../kafkajs/kafkajs.ts'
import { setOwnProperty } from '../kafkajs/patches/record-decoder.ts'
import {
  type Cluster,
  type FetchedBatch,
  type FetchedMessage,
  type FetchedPartition,
  internal,
} from '../kafkajs/private-api.ts'

/** Default size of one fetch; it is held in memory. */
const defaultFetchBytes = 2 * 1024 * 1024
const readCommitted = 1

/** Retries without progress: some ten seconds in total, enough for the election of a leader. */
export const maxRetries = 12
export const retryAfter = (attempt: number): DurationMs => durationMs(Math.min(50 * 2 ** attempt, 1_000))

/**
 * Waits, then refreshes the metadata: before the retry of a request that no broker could answer.
 */
export async function refreshMetadataAfter(clock: Clock, cluster: Cluster, delay: DurationMs): Promise<void> {
  await pause(clock, delay)
  await cluster.refreshMetadata().catch(() => undefined)
}

/** The cluster of a consumer that never runs: kafkajs exports no other way to fetch. */
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

/**
 * Connects, and lists the partitions of a topic.
 * @throws KafkaError, for example `TOPIC_MISSING`
 */
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

export interface OffsetRange extends TopicPartition {
  readonly beginning: number
  /** The end of the committed records: an open transaction does not stop a reader. */
  readonly end: number
}

/** @throws KafkaError */
export async function rangeOf(cluster: Cluster, topic: string, partition: number): Promise<OffsetRange> {
  try {
    const at = (side: 'beginning' | 'end'): Promise<number> => offsetOf(cluster, { topic, partition }, side)
    const [beginning, end] = await allSettled([at('beginning'), at('end')])
    return { topic, partition, beginning: beginning as number, end: end as number }
  } catch (error) {
    throw kafkaError(`offsets of ${topic}/${partition} cannot be read`, error)
  }
}

/**
 * The first or the end offset of a partition.
 * @throws when no leader is known or it does not answer.
 */
export async function offsetOf(
  cluster: Cluster,
  { topic, partition }: TopicPartition,
  side: 'beginning' | 'end',
): Promise<number> {
  const fromBeginning = side === 'beginning'
  const [answer] = await cluster.fetchTopicsOffset([{ topic, partitions: [{ partition }], fromBeginning }])
  const offset = answer?.partitions[0]?.offset
  if (offset === undefined) throw new Error(`no leader is known for ${topic}/${partition}`)
  return Number(offset)
}

/**
 * As `Promise.all`, but rejects after all of them have settled: a request that is still in progress
 * when the cluster is disconnected would connect it again.
 */
export async function allSettled<T>(asked: readonly Promise<T>[]): Promise<readonly T[]> {
  await Promise.allSettled(asked)
  return Promise.all(asked)
}

/**
 * The offset of the first record appended at this time or later; undefined when there is none.
 * @throws KafkaError
 */
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

/** The node id of a partition's leader, from the cached metadata; -1 when it is unknown. */
export const leaderOf = (cluster: Cluster, topic: string, partition: number): number =>
  cluster.findTopicPartitionMetadata(topic).find(({ partitionId }) => partitionId === partition)?.leader ?? -1

/** A fetch from one node. */
export interface FetchRequest {
  readonly node: number
  readonly topic: string
  readonly wanted: readonly { readonly partition: number; readonly position: number }[]
  /** How long the node may hold a fetch that has nothing to return. */
  readonly maxWaitMs: number
  /** Limit of the answer; decoded, it takes several times that in memory. */
  readonly maxBytes?: number | undefined
}

/** What a fetch returned for one partition. */
export interface Fetched {
  readonly partition: number
  /** Without aborted and control records. */
  readonly records: FetchedBatch['messages']
  /** The offset to continue at; unchanged when the fetch returned nothing. */
  readonly next: number
  /** The end of the readable log. */
  readonly end: number
}

/**
 * Returns one result for each partition.
 * @throws what kafkajs throws, when one of them has an error
 */
export async function fetchFrom(
  cluster: Cluster,
  { node, topic, wanted, maxWaitMs, maxBytes = defaultFetchBytes }: FetchRequest,
): Promise<readonly Fetched[]> {
  const BatchOf =
    internal<new (topic: string, offset: string, data: FetchedPartition) => FetchedBatch>('consumer/batch')
  const positions = new Map(wanted.map(({ partition, position }) => [partition, position]))
  const broker = await cluster.findBroker({ nodeId: node })
  const { responses } = await broker.fetch({
    maxWaitTime: maxWaitMs,
    minBytes: 1,
    maxBytes,
    isolationLevel: readCommitted,
    topics: [{ topic, partitions: [...positions].map(of => partitionRequest(of, maxBytes)) }],
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

const partitionRequest = ([partition, position]: readonly [number, number], maxBytes: number) => ({
  partition,
  fetchOffset: String(position),
  maxBytes,
})

const noHeaders: RecordHeaders = Object.freeze({})

/**
 * Makes a record with copies of key and value. The originals are views of the whole fetch: one slow
 * delivery would keep a mebibyte in memory.
 */
export function recordOf(topic: string, partition: number, message: FetchedMessage): LogRecord {
  return {
    topic,
    partition,
    offset: Number(message.offset),
    timestamp: epochMs(Number(message.timestamp)),
    key: message.key === null ? null : Buffer.from(message.key),
    value: message.value === null ? null : Buffer.from(message.value),
    headers: headersOf(message.headers),
    ...(message.unreadBatch !== undefined && { unreadBatch: message.unreadBatch }),
  }
}

/** Makes a record without copies, for callers that do not keep it. */
export function viewOf(
  topic: string,
  partition: number,
  { offset, timestamp, key, value, headers }: FetchedMessage,
): LogRecord {
  return {
    topic,
    partition,
    offset: Number(offset),
    timestamp: epochMs(Number(timestamp)),
    key,
    value,
    headers: headersOf(headers),
  }
}

/** Headers as text, in which form they may already be. The last value of a repeated name counts. */
export function headersOf(headers: FetchedMessage['headers'] = noHeaders): RecordHeaders {
  if (isText(headers)) return headers
  const texts: Record<string, string> = {}
  for (const name in headers) {
    const value = headers[name]
    const last = Array.isArray(value) ? value.at(-1) : value
    setOwnProperty(texts, name, last?.toString() ?? '')
  }
  return texts
}

function isText(headers: NonNullable<FetchedMessage['headers']>): headers is RecordHeaders {
  for (const name in headers) if (typeof headers[name] !== 'string') return false
  return true
}
