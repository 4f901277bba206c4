import { pause } from '../../../core/pause.ts'
import type { Clock, LogRecord, RecordHeaders, TopicPartition } from '../../../core/ports.ts'
import { type DurationMs, durationMs, type EpochMs, epochMs } from '../../../core/units.ts'
import type { KafkaClient } from '../kafkajs/client.ts'
import { errorCodeOf, toKafkaError, topicMissing } from '../kafkajs/errors.ts'
import { loadKafkajs } from '../kafkajs/kafkajs.ts'
import { setOwnProperty } from '../kafkajs/patches/record-decoder.ts'
import {
  type Cluster,
  type FetchedBatch,
  type FetchedMessage,
  type FetchedPartition,
  internal,
} from '../kafkajs/private-api.ts'

/** Default maximum bytes of one fetch. The whole response is held in memory. */
const defaultFetchBytes = 2 * 1024 * 1024
const readCommitted = 1

/** Maximum retries without progress. They take about nine seconds, enough to elect a leader. */
export const maxRetries = 12
export const retryDelay = (attempt: number): DurationMs => durationMs(Math.min(50 * 2 ** attempt, 1_000))

/** Waits and then refreshes the metadata. Call it before the retry of a failed request. */
export async function refreshMetadataAfter(clock: Clock, cluster: Cluster, delay: DurationMs): Promise<void> {
  await pause(clock, delay)
  await cluster.refreshMetadata().catch(() => undefined)
}

/**
 * Creates kafkajs's cluster client, for fetches without a consumer group. kafkajs does not export
 * it, so this function takes it from a consumer that never runs.
 */
export function createClusterClient(kafka: KafkaClient): Cluster {
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
 * Connects to the cluster and lists the partitions of a topic.
 * @throws KafkaError, for example `TOPIC_MISSING`
 */
export async function connectAndListPartitions(cluster: Cluster, topic: string): Promise<readonly number[]> {
  try {
    await cluster.connect()
    await cluster.addTargetTopic(topic)
    return cluster.findTopicPartitionMetadata(topic).map(({ partitionId }) => partitionId)
  } catch (error) {
    if (errorCodeOf(error) === 'UNKNOWN_TOPIC_OR_PARTITION') throw topicMissing(topic, error)
    throw toKafkaError(`cannot read topic ${topic}`, error)
  }
}

export interface OffsetRange extends TopicPartition {
  readonly beginning: number
  /** The last stable offset: a read to this offset does not wait for an open transaction. */
  readonly end: number
}

/** @throws KafkaError */
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
 * Returns the first offset or the end offset of a partition.
 * @throws when the partition has no known leader, or the leader does not respond
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
 * As `Promise.all`, but it rejects only after all promises have settled. A request that is still in
 * progress when the caller disconnects the cluster would connect it again.
 */
export async function rejectAfterAllSettled<T>(asked: readonly Promise<T>[]): Promise<readonly T[]> {
  await Promise.allSettled(asked)
  return Promise.all(asked)
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

/** The node id of a partition's leader, from the cached metadata; -1 when it is unknown. */
export const leaderOf = (cluster: Cluster, topic: string, partition: number): number =>
  cluster.findTopicPartitionMetadata(topic).find(({ partitionId }) => partitionId === partition)?.leader ?? -1

export interface FetchRequest {
  readonly node: number
  readonly topic: string
  readonly wanted: readonly { readonly partition: number; readonly position: number }[]
  /** How long the broker may hold the fetch while it has no records. */
  readonly maxWaitMs: number
  /** Maximum bytes of the response. Its decoded records take several times as much memory. */
  readonly maxBytes?: number | undefined
}

/** The result of a fetch for one partition. */
export interface Fetched {
  readonly partition: number
  /** The records, without those of aborted transactions and without control records. */
  readonly records: FetchedBatch['messages']
  /** The offset of the next fetch; unchanged when the response was empty. */
  readonly next: number
  /** The last stable offset: a `read_committed` consumer reads only the records before it. */
  readonly end: number
}

/**
 * Fetches from one broker. Returns one result for each partition.
 * @throws kafkajs's error, when the request fails or any partition of the response has an error
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
 * Converts a fetched message to a record and copies its key and value. The originals are views of
 * the whole response, which one slow delivery would otherwise keep in memory.
 */
export function toLogRecord(topic: string, partition: number, message: FetchedMessage): LogRecord {
  return {
    topic,
    partition,
    offset: Number(message.offset),
    timestamp: epochMs(Number(message.timestamp)),
    key: message.key === null ? null : Buffer.from(message.key),
    value: message.value === null ? null : Buffer.from(message.value),
    headers: toHeaderTexts(message.headers),
    ...(message.unreadBatch !== undefined && { unreadBatch: message.unreadBatch }),
  }
}

/** As `toLogRecord`, but without copies: for callers that do not keep the record. */
export function toLogRecordView(
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
    headers: toHeaderTexts(headers),
  }
}

/** Converts header values to text. If a name is repeated, the last value counts. */
export function toHeaderTexts(headers: FetchedMessage['headers'] = noHeaders): RecordHeaders {
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
