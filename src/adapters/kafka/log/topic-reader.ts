import { partitionFor } from '../../../core/message/partition-for-key.ts'
import type {
  Clock,
  Logger,
  OffsetsByTime,
  PartitionReader,
  Portion,
  TopicPartition,
  TopicReader,
} from '../../../core/ports.ts'
import type { EpochMs } from '../../../core/time.ts'
import type { KafkaClient } from '../kafkajs/client.ts'
import { errorCodeOf, KafkaError, toKafkaError } from '../kafkajs/errors.ts'
import type { Cluster, FetchedMessage } from '../kafkajs/private-api.ts'
import { refreshMetadataAfter } from '../kafkajs/refresh-metadata-after-delay.ts'
import { type Fetched, fetchFrom, maxRetries, retryDelay } from './fetch-from-broker.ts'
import { connectAndListPartitions, createClusterClient, leaderOf } from './kafkajs-cluster-without-group.ts'
import { fetchOffsetRange, fetchOffsetSince, type OffsetRange } from './partition-offsets.ts'
import { rejectAfterAllSettled } from './reject-after-all-settled.ts'
import { toLogRecord, toLogRecordView } from './to-log-record.ts'

export interface ReaderDeps {
  readonly kafka: KafkaClient
  readonly clock: Clock
  readonly logger: Logger
}

const maxWaitMs = 250
/**
 * Maximum bytes of one fetch of `readPartition`. If a response ends in the middle of a batch, the
 * batch is fetched again. Larger fetches make this rarer.
 */
const partitionBytes = 4 * 1024 * 1024

interface Reading extends OffsetRange {
  readonly mustStop?: (() => boolean) | undefined
  readonly onRemoved?: Portion['onRemoved']
  readonly maxBytes?: number
}

type OnMessage = (message: FetchedMessage) => void | Promise<void>

/**
 * Creates a reader that reads topics to their current end, without a consumer group.
 * @throws KafkaErrors, and the errors of `onRecord`
 */
export function createReader(deps: ReaderDeps): TopicReader & PartitionReader & OffsetsByTime {
  /** Connects, calls `use` with the partitions of the topic, and disconnects. */
  async function withConnection<T>(
    topic: string,
    use: (cluster: Cluster, all: readonly number[]) => Promise<T>,
  ): Promise<T> {
    const cluster = createClusterClient(deps.kafka)
    try {
      return await use(cluster, await connectAndListPartitions(cluster, topic))
    } finally {
      await cluster.disconnect()
    }
  }

  return {
    readToEnd: (topic, onRecord, { key, since, from = [], to, mustStop, onRemoved } = {}) =>
      withConnection(topic, async (cluster, partitions) => {
        const only = key && partitionFor(key, partitions.length)
        const wanted = partitions.filter(partition => only === undefined || partition === only)
        const ranges = await rejectAfterAllSettled(
          wanted.map(partition => rangeFound(deps, cluster, { topic, partition }, since)),
        )
        let count = 0
        for (const range of ranges) {
          const first = from[range.partition] ?? range.beginning
          const beginning = Math.max(range.beginning, first)
          // A partition that is missing in `to` is newer than `to`, and is not read.
          const end = to === undefined ? range.end : Math.min(range.end, to[range.partition] ?? 0)
          // With `since`, `onRemoved` is not called: the log may still have the records before
          // `beginning`.
          if (since === undefined && first < Math.min(beginning, end)) onRemoved?.(range.partition, beginning)
          count += await readPartition(deps, cluster, { ...range, beginning, end, mustStop, onRemoved }, message =>
            onRecord(toLogRecord(topic, range.partition, message)),
          )
        }
        return count
      }),
    readPartition: (of, onRecord, from = 0) =>
      withConnection(of.topic, async cluster => {
        const range = await rangeFound(deps, cluster, of)
        const beginning = Math.max(range.beginning, from)
        return readPartition(deps, cluster, { ...range, beginning, maxBytes: partitionBytes }, message =>
          onRecord(toLogRecordView(of.topic, of.partition, message)),
        )
      }),
    spans: (topic, { since, until } = {}) =>
      withConnection(topic, (cluster, partitions) =>
        rejectAfterAllSettled(
          partitions
            .toSorted((a, b) => a - b)
            .map(async partition => {
              const of = { topic, partition }
              const { beginning, end } = await rangeFound(deps, cluster, of)
              const at = async (time: EpochMs): Promise<number> => (await rangeFound(deps, cluster, of, time)).beginning
              const to = until === undefined ? end : Math.min(end, await at(until))
              return { ...of, beginning, from: since === undefined ? beginning : Math.min(to, await at(since)), to }
            }),
        ),
      ),
    endOf: of => withConnection(of.topic, async cluster => (await rangeFound(deps, cluster, of)).end),
  }
}

/**
 * Finds the offsets to read in a partition: all, or those since `since`. Retries temporary errors.
 * @throws KafkaError
 */
async function rangeFound(
  deps: ReaderDeps,
  cluster: Cluster,
  of: TopicPartition,
  since?: EpochMs,
  attempt = 0,
): Promise<OffsetRange> {
  try {
    const range = await fetchOffsetRange(cluster, of.topic, of.partition)
    if (since === undefined) return range
    const from = (await fetchOffsetSince(cluster, of, since)) ?? range.end
    return { ...range, beginning: Math.max(range.beginning, from) }
  } catch (error) {
    if (!(error instanceof KafkaError && error.retriable) || attempt >= maxRetries) throw error
    deps.logger.debug(
      { ...of, code: error.code },
      'cannot read the first and the last offset of the partition; hookline retries',
    )
    await refreshMetadataAfter(deps.clock, cluster, retryDelay(attempt))
    return rangeFound(deps, cluster, of, since, attempt + 1)
  }
}

async function readPartition(
  deps: ReaderDeps,
  cluster: Cluster,
  range: Reading,
  onMessage: OnMessage,
): Promise<number> {
  const { end, mustStop = () => false } = range
  let position = range.beginning
  let count = 0
  let attempt = 0
  while (position < end && !mustStop()) {
    const { records, next } = await fetchOrWait(deps, cluster, range, position, attempt)
    attempt = next > position ? 0 : attempt + 1
    position = next
    for (const message of records) {
      if (Number(message.offset) >= end || mustStop()) break
      const handled = onMessage(message)
      // Most handlers return `undefined`. An `await` for each record would double the CPU time.
      if (handled !== undefined) await handled
      count++
    }
  }
  return count
}

/**
 * Fetches once. After a failure it waits, and then returns no records and the position of the next
 * fetch.
 * @throws KafkaError after the last retry
 */
async function fetchOrWait(
  deps: ReaderDeps,
  cluster: Cluster,
  range: Reading,
  position: number,
  attempt: number,
): Promise<Pick<Fetched, 'records' | 'next'>> {
  const { topic, partition, end, maxBytes, onRemoved } = range
  try {
    if (attempt > maxRetries)
      throw new Error(
        `${attempt} fetches returned no records at offset ${position}, although the log continues to offset ${end}`,
      )
    const node = leaderOf(cluster, topic, partition)
    const [fetched] = await fetchFrom(cluster, { node, topic, wanted: [{ partition, position }], maxWaitMs, maxBytes })
    return fetched ?? { records: [], next: position }
  } catch (error) {
    const code = errorCodeOf(error)
    if (attempt >= maxRetries) throw toKafkaError(`cannot read ${topic}/${partition}`, error)
    deps.logger.debug({ topic, partition, position, code }, 'fetching records from Kafka failed; hookline retries')
    await refreshMetadataAfter(deps.clock, cluster, retryDelay(attempt))
    // OFFSET_OUT_OF_RANGE: retention has deleted the records at the position.
    const first = code === 'OFFSET_OUT_OF_RANGE' ? (await rangeFound(deps, cluster, range)).beginning : position
    if (first > position) onRemoved?.(partition, first)
    return { records: [], next: Math.max(position, first) }
  }
}
