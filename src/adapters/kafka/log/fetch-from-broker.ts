import { type DurationMs, durationMs } from '../../../core/time.ts'
import { type Cluster, type FetchedBatch, type FetchedPartition, internal } from '../kafkajs/private-api.ts'

const defaultFetchBytes = 2 * 1024 * 1024
const readCommitted = 1

/**
 * Maximum number of consecutive retries without progress. With `retryDelay` they take about nine
 * seconds, enough to elect a leader.
 */
export const maxRetries = 12
export const retryDelay = (attempt: number): DurationMs => durationMs(Math.min(50 * 2 ** attempt, 1_000))

export interface FetchRequest {
  readonly node: number
  readonly topic: string
  readonly wanted: readonly { readonly partition: number; readonly position: number }[]
  /** How long the broker may wait for records. */
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
  /** The last stable offset: the end for a `read_committed` consumer. */
  readonly end: number
}

/**
 * Fetches from one broker. Returns one result for each partition.
 * @throws kafkajs's error, when the request or any partition of the response fails
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
