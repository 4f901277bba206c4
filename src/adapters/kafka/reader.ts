import type { Clock, Logger, LogRecord, TopicReader } from '../../core/ports.ts'
import { durationMs } from '../../core/units.ts'
import { offsetOf } from './assignment.ts'
import type { KafkaClient } from './client.ts'
import { codeOfThrown, kafkaError, topicMissing } from './errors.ts'
import { type Batch, type Cluster, type FetchedPartition, internal } from './internals.ts'
import { loadKafkajs } from './library.ts'
import { recordOf } from './records.ts'

export interface ReaderDeps {
  readonly kafka: KafkaClient
  readonly clock: Clock
  readonly logger: Logger
}

/** All that is held in memory at once. */
const fetchBytes = 2 * 1024 * 1024
const maxWaitMs = 250
const readCommitted = 1
/** Tries without getting on before a reader gives up: over all some ten seconds, enough for the election of a leader. */
const patience = 12
const retryAfter = (attempt: number) => durationMs(Math.min(50 * 2 ** attempt, 1_000))

type OnRecord = (record: LogRecord) => void | Promise<void>

/**
 * Reads by fetches of its own, without any group: nothing has to be balanced, kept alive or deleted, and the next fetch waits until all of the
 * last is handled. Partitions come one after the other. Rejects with KafkaErrors, and with what `onRecord` throws.
 */
export function createReader(deps: ReaderDeps): TopicReader {
  return {
    async readToEnd(topic, onRecord) {
      const cluster = clusterOf(deps.kafka)
      try {
        const partitions = await partitionsOf(cluster, topic)
        const ranges = await Promise.all(partitions.map(partition => rangeOf(cluster, topic, partition)))
        let count = 0
        for (const range of ranges) count += await readPartition(deps, cluster, range, onRecord)
        return count
      } finally {
        await cluster.disconnect()
      }
    },
  }
}

/** A consumer that never runs has all that it takes to fetch. */
function clusterOf(kafka: KafkaClient): Cluster {
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

async function partitionsOf(cluster: Cluster, topic: string): Promise<readonly number[]> {
  try {
    await cluster.connect()
    await cluster.addTargetTopic(topic)
    return cluster.findTopicPartitionMetadata(topic).map(({ partitionId }) => partitionId)
  } catch (error) {
    if (codeOfThrown(error) === 'UNKNOWN_TOPIC_OR_PARTITION') throw topicMissing(topic, error)
    throw kafkaError(`topic ${topic} cannot be read`, error)
  }
}

interface Range {
  readonly topic: string
  readonly partition: number
  readonly beginning: number
  /** The end of what is committed: an open transaction does not hold the reader up. */
  readonly end: number
}

async function rangeOf(cluster: Cluster, topic: string, partition: number): Promise<Range> {
  try {
    const at = (side: 'beginning' | 'end'): Promise<number> => offsetOf({ cluster }, { topic, partition }, side)
    const [beginning, end] = await Promise.all([at('beginning'), at('end')])
    return { topic, partition, beginning, end }
  } catch (error) {
    throw kafkaError(`ends of ${topic}/${partition} cannot be read`, error)
  }
}

async function readPartition(deps: ReaderDeps, cluster: Cluster, range: Range, onRecord: OnRecord): Promise<number> {
  const { topic, partition, end } = range
  let position = range.beginning
  let count = 0
  let attempt = 0
  while (position < end) {
    const { records, next } = await fetchOrWait(deps, cluster, range, position, attempt)
    attempt = next > position ? 0 : attempt + 1
    position = next
    for (const message of records) {
      if (Number(message.offset) >= end) break
      await onRecord(recordOf(topic, partition, message))
      count++
    }
  }
  return count
}

/** What one fetch came to; `next` has not moved when there is nothing yet. */
interface Fetched {
  readonly records: Batch['messages']
  readonly next: number
}

/** After a failure it has waited already. @throws KafkaError when patience is over. */
async function fetchOrWait(
  { clock, logger }: ReaderDeps,
  cluster: Cluster,
  range: Range,
  position: number,
  attempt: number,
): Promise<Fetched> {
  const { topic, partition, end } = range
  try {
    if (attempt > patience) throw new Error(`nothing comes from offset ${position} on, although ${end} is the end`)
    const batch = await fetchFrom(cluster, topic, partition, position)
    const isNothing = batch.rawMessages.length === 0
    return { records: batch.messages, next: isNothing ? position : Number(batch.lastOffset()) + 1 }
  } catch (error) {
    const code = codeOfThrown(error)
    if (attempt >= patience) throw kafkaError(`${topic}/${partition} cannot be read`, error)
    logger.debug({ topic, partition, position, code }, 'fetch failed, trying again')
    await new Promise<void>(resolve => clock.after(retryAfter(attempt), resolve))
    await cluster.refreshMetadata().catch(() => undefined)
    // Deleted while we read, by retention: on with what is left.
    const left = code === 'OFFSET_OUT_OF_RANGE' ? (await rangeOf(cluster, topic, partition)).beginning : position
    return { records: [], next: Math.max(position, left) }
  }
}

async function fetchFrom(cluster: Cluster, topic: string, partition: number, position: number): Promise<Batch> {
  const BatchOf = internal<new (topic: string, offset: string, data: FetchedPartition) => Batch>('consumer/batch')
  const leader = cluster.findTopicPartitionMetadata(topic).find(({ partitionId }) => partitionId === partition)?.leader
  const broker = await cluster.findBroker({ nodeId: leader ?? -1 })
  const fetchOffset = String(position)
  const { responses } = await broker.fetch({
    maxWaitTime: maxWaitMs,
    minBytes: 1,
    maxBytes: fetchBytes,
    isolationLevel: readCommitted,
    topics: [{ topic, partitions: [{ partition, fetchOffset, maxBytes: fetchBytes }] }],
  })
  return new BatchOf(topic, fetchOffset, responses[0]?.partitions[0] as FetchedPartition)
}
