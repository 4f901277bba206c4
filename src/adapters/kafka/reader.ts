import { partitionFor } from '../../core/message/event.ts'
import type { Clock, Logger, PartitionReader, TopicPartition, TopicReader } from '../../core/ports.ts'
import type { EpochMs } from '../../core/units.ts'
import type { KafkaClient } from './client.ts'
import { codeOfThrown, KafkaError, kafkaError } from './errors.ts'
import {
  allEnded,
  clusterOf,
  type Fetched,
  fetchFrom,
  leaderOf,
  lookAnew,
  offsetSince,
  partitionsOf,
  patience,
  type Range,
  rangeOf,
  retryAfter,
} from './fetching.ts'
import type { Cluster, FetchedMessage } from './internals.ts'
import { recordOf, viewOf } from './records.ts'

export interface ReaderDeps {
  readonly kafka: KafkaClient
  readonly clock: Clock
  readonly logger: Logger
}

const maxWaitMs = 250
/** Of one partition alone: a fetch ends amid a batch, which then comes again; so larger ones waste less. */
const partitionBytes = 4 * 1024 * 1024

interface Reading extends Range {
  readonly isEnough?: (() => boolean) | undefined
  readonly maxBytes?: number
}

type OnMessage = (message: FetchedMessage) => void | Promise<void>

/**
 * Reads by fetches of its own, without any group: nothing has to be balanced, kept alive or deleted, and the next fetch waits until all of the
 * last is handled. Partitions come one after the other. Rejects with KafkaErrors, and with what `onRecord` throws.
 */
export function createReader(deps: ReaderDeps): TopicReader & PartitionReader {
  /** By connections of its own, which end with it. */
  async function asked<T>(topic: string, ask: (cluster: Cluster, all: readonly number[]) => Promise<T>): Promise<T> {
    const cluster = clusterOf(deps.kafka)
    try {
      return await ask(cluster, await partitionsOf(cluster, topic))
    } finally {
      await cluster.disconnect()
    }
  }

  return {
    readToEnd: (topic, onRecord, { key, since, isEnough } = {}) =>
      asked(topic, async (cluster, partitions) => {
        const only = key && partitionFor(key, partitions.length)
        const wanted = partitions.filter(partition => only === undefined || partition === only)
        const ranges = await allEnded(wanted.map(partition => rangeFound(deps, cluster, { topic, partition }, since)))
        let count = 0
        for (const range of ranges)
          count += await readPartition(deps, cluster, { ...range, isEnough }, message =>
            onRecord(recordOf(topic, range.partition, message)),
          )
        return count
      }),
    readPartition: (of, onRecord, from = 0) =>
      asked(of.topic, async cluster => {
        const range = await rangeFound(deps, cluster, of)
        const beginning = Math.max(range.beginning, from)
        return readPartition(deps, cluster, { ...range, beginning, maxBytes: partitionBytes }, message =>
          onRecord(viewOf(of.topic, of.partition, message)),
        )
      }),
    endOf: of => asked(of.topic, async cluster => (await rangeFound(deps, cluster, of)).end),
  }
}

/** Nobody can say where a log ends while its leader is being elected. @throws KafkaError when patience is over. */
async function rangeFound(
  deps: ReaderDeps,
  cluster: Cluster,
  of: TopicPartition,
  since?: EpochMs,
  attempt = 0,
): Promise<Range> {
  try {
    const range = await rangeOf(cluster, of.topic, of.partition)
    if (since === undefined) return range
    const from = (await offsetSince(cluster, of, since)) ?? range.end
    return { ...range, beginning: Math.max(range.beginning, from) }
  } catch (error) {
    if (!(error instanceof KafkaError && error.retriable) || attempt >= patience) throw error
    deps.logger.debug({ ...of, code: error.code }, 'ends of the log not found, trying again')
    await lookAnew(deps.clock, cluster, retryAfter(attempt))
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
      // Millions of records are handled at once: waiting for nothing would cost as much as some of them do.
      if (handled !== undefined) await handled
      count++
    }
  }
  return count
}

/** After a failure it has waited already. @throws KafkaError when patience is over. */
async function fetchOrWait(
  deps: ReaderDeps,
  cluster: Cluster,
  range: Reading,
  position: number,
  attempt: number,
): Promise<Pick<Fetched, 'records' | 'next'>> {
  const { topic, partition, end, maxBytes } = range
  try {
    if (attempt > patience) throw new Error(`nothing comes from offset ${position} on, although ${end} is the end`)
    const node = leaderOf(cluster, topic, partition)
    const [fetched] = await fetchFrom(cluster, { node, topic, wanted: [{ partition, position }], maxWaitMs, maxBytes })
    return fetched ?? { records: [], next: position }
  } catch (error) {
    const code = codeOfThrown(error)
    if (attempt >= patience) throw kafkaError(`${topic}/${partition} cannot be read`, error)
    deps.logger.debug({ topic, partition, position, code }, 'fetch failed, trying again')
    await lookAnew(deps.clock, cluster, retryAfter(attempt))
    // Deleted while we read, by retention: on with what is left.
    const left = code === 'OFFSET_OUT_OF_RANGE' ? (await rangeFound(deps, cluster, range)).beginning : position
    return { records: [], next: Math.max(position, left) }
  }
}
