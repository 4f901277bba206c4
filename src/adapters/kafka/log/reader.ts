import { partitionFor } from '../../../core/message/event.ts'
import type { Clock, Logger, PartitionReader, TopicPartition, TopicReader } from '../../../core/ports.ts'
import type { EpochMs } from '../../../core/units.ts'
import type { KafkaClient } from '../kafkajs/client.ts'
import { codeOfThrown, KafkaError, kafkaError } from '../kafkajs/errors.ts'
import type { Cluster, FetchedMessage } from '../kafkajs/private-api.ts'
import {
  allSettled,
  clusterOf,
  type Fetched,
  fetchFrom,
  leaderOf,
  maxRetries,
  type OffsetRange,
  offsetSince,
  partitionsOf,
  rangeOf,
  recordOf,
  refreshMetadataAfter,
  retryAfter,
  viewOf,
} from './fetch.ts'

export interface ReaderDeps {
  readonly kafka: KafkaClient
  readonly clock: Clock
  readonly logger: Logger
}

const maxWaitMs = 250
/**
 * Fetch size when one partition is read alone. A fetch ends in the middle of a batch, which is
 * fetched again: larger fetches waste less.
 */
const partitionBytes = 4 * 1024 * 1024

interface Reading extends OffsetRange {
  readonly isEnough?: (() => boolean) | undefined
  readonly maxBytes?: number
}

type OnMessage = (message: FetchedMessage) => void | Promise<void>

/**
 * Creates a reader that fetches without a consumer group: there is nothing to rebalance, keep alive
 * or delete, and the next fetch waits until the last one is handled. It reads one partition after
 * the other. Rejects with KafkaErrors, and with what `onRecord` throws.
 */
export function createReader(deps: ReaderDeps): TopicReader & PartitionReader {
  /** Each call has connections of its own, which end with it. */
  async function connected<T>(
    topic: string,
    ask: (cluster: Cluster, all: readonly number[]) => Promise<T>,
  ): Promise<T> {
    const cluster = clusterOf(deps.kafka)
    try {
      return await ask(cluster, await partitionsOf(cluster, topic))
    } finally {
      await cluster.disconnect()
    }
  }

  return {
    readToEnd: (topic, onRecord, { key, since, isEnough } = {}) =>
      connected(topic, async (cluster, partitions) => {
        const only = key && partitionFor(key, partitions.length)
        const wanted = partitions.filter(partition => only === undefined || partition === only)
        const ranges = await allSettled(wanted.map(partition => rangeFound(deps, cluster, { topic, partition }, since)))
        let count = 0
        for (const range of ranges)
          count += await readPartition(deps, cluster, { ...range, isEnough }, message =>
            onRecord(recordOf(topic, range.partition, message)),
          )
        return count
      }),
    readPartition: (of, onRecord, from = 0) =>
      connected(of.topic, async cluster => {
        const range = await rangeFound(deps, cluster, of)
        const beginning = Math.max(range.beginning, from)
        return readPartition(deps, cluster, { ...range, beginning, maxBytes: partitionBytes }, message =>
          onRecord(viewOf(of.topic, of.partition, message)),
        )
      }),
    endOf: of => connected(of.topic, async cluster => (await rangeFound(deps, cluster, of)).end),
  }
}

/**
 * Finds the range of a partition, with retries: it is unknown while its leader is elected.
 * @throws KafkaError after the last retry
 */
async function rangeFound(
  deps: ReaderDeps,
  cluster: Cluster,
  of: TopicPartition,
  since?: EpochMs,
  attempt = 0,
): Promise<OffsetRange> {
  try {
    const range = await rangeOf(cluster, of.topic, of.partition)
    if (since === undefined) return range
    const from = (await offsetSince(cluster, of, since)) ?? range.end
    return { ...range, beginning: Math.max(range.beginning, from) }
  } catch (error) {
    if (!(error instanceof KafkaError && error.retriable) || attempt >= maxRetries) throw error
    deps.logger.debug({ ...of, code: error.code }, 'offsets of the log not found, trying again')
    await refreshMetadataAfter(deps.clock, cluster, retryAfter(attempt))
    return rangeFound(deps, cluster, of, since, attempt + 1)
  }
}

async function readPartition(
  deps: ReaderDeps,
  cluster: Cluster,
  range: Reading,
  onMessage: OnMessage,
): Promise<number> {
  const { end, isEnough = () => false } = range
  let position = range.beginning
  let count = 0
  let attempt = 0
  while (position < end && !isEnough()) {
    const { records, next } = await fetchOrWait(deps, cluster, range, position, attempt)
    attempt = next > position ? 0 : attempt + 1
    position = next
    for (const message of records) {
      if (Number(message.offset) >= end || isEnough()) break
      const handled = onMessage(message)
      // Most handlers return nothing: to await that for millions of records would cost as much
      // again.
      if (handled !== undefined) await handled
      count++
    }
  }
  return count
}

/**
 * Fetches once; after a failure it waits and returns no records.
 * @throws KafkaError after the last retry
 */
async function fetchOrWait(
  deps: ReaderDeps,
  cluster: Cluster,
  range: Reading,
  position: number,
  attempt: number,
): Promise<Pick<Fetched, 'records' | 'next'>> {
  const { topic, partition, end, maxBytes } = range
  try {
    if (attempt > maxRetries)
      throw new Error(`no records received from offset ${position} on, before the end of the log at ${end}`)
    const node = leaderOf(cluster, topic, partition)
    const [fetched] = await fetchFrom(cluster, { node, topic, wanted: [{ partition, position }], maxWaitMs, maxBytes })
    return fetched ?? { records: [], next: position }
  } catch (error) {
    const code = codeOfThrown(error)
    if (attempt >= maxRetries) throw kafkaError(`${topic}/${partition} cannot be read`, error)
    deps.logger.debug({ topic, partition, position, code }, 'fetch failed, trying again')
    await refreshMetadataAfter(deps.clock, cluster, retryAfter(attempt))
    // Retention has deleted the records at the position: continue at the first one that exists.
    const first = code === 'OFFSET_OUT_OF_RANGE' ? (await rangeFound(deps, cluster, range)).beginning : position
    return { records: [], next: Math.max(position, first) }
  }
}
