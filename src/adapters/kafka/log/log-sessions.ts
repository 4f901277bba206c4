import type { LogSession, WithLogSession } from '../../../core/log-session.ts'
import type { Clock, TopicPartition } from '../../../core/ports.ts'
import { durationMs, type EpochMs } from '../../../core/time.ts'
import type { KafkaClient } from '../kafkajs/client.ts'
import { KafkaError, toKafkaError } from '../kafkajs/errors.ts'
import type { Cluster } from '../kafkajs/private-api.ts'
import { refreshMetadataAfter } from '../kafkajs/refresh-metadata-after-delay.ts'
import { fetchFrom } from './fetch-from-broker.ts'
import { connectAndListPartitions, createClusterClient, leaderOf } from './kafkajs-cluster-without-group.ts'
import { rejectAfterAllSettled } from './reject-after-all-settled.ts'
import { toLogRecordView } from './to-log-record.ts'

interface Deps {
  readonly kafka: KafkaClient
  readonly clock: Clock
}

const maxWaitMs = 250
/**
 * Estimated bytes of a record. A fetch requests the estimated bytes of the records that the session
 * still has to read.
 */
const bytesPerRecord = 1_024
/**
 * Minimum and maximum bytes of one fetch. Kafka returns the first batch whole, even if it is
 * larger.
 */
const fetchBytes = { min: 64 * 1024, max: 4 * 1024 * 1024 }
/**
 * Maximum fetches in a row without a new record. It is low, because an operator waits for the
 * response.
 */
const maxEmptyFetches = 3
const retryDelay = durationMs(100)

interface LogSessions {
  readonly use: WithLogSession
  /**
   * Closes the connection, or lets the last session in progress close it. A later session opens a
   * new connection.
   */
  close(): Promise<void>
}

interface Connection {
  readonly cluster: Cluster
  /** Number of sessions in progress on this connection. */
  sessions: number
}

/**
 * Creates sessions that read parts of topics without a consumer group. The sessions share one
 * connection, because to connect takes longer than most reads.
 */
export function createLogSessions(deps: Deps): LogSessions {
  let kept: Connection | undefined

  async function useKept<T>(use: (session: LogSession) => Promise<T>): Promise<T> {
    kept ??= { cluster: createClusterClient(deps.kafka), sessions: 0 }
    const connection = kept
    connection.sessions++
    try {
      return await use(sessionOf(deps, connection.cluster))
    } catch (error) {
      if (kept === connection) kept = undefined
      throw error
    } finally {
      connection.sessions--
      if (connection !== kept && connection.sessions === 0) await connection.cluster.disconnect()
    }
  }

  return {
    async use(use) {
      const isNew = kept === undefined
      try {
        return await useKept(use)
      } catch (error) {
        // A kept connection can be broken, or its metadata out of date. So the session is repeated
        // once, with another connection.
        if (isNew || !(error instanceof KafkaError)) throw error
        return useKept(use)
      }
    },
    async close() {
      const connection = kept
      kept = undefined
      if (connection?.sessions === 0) await connection.cluster.disconnect()
    },
  }
}

type AtTime = { readonly fromBeginning: boolean; readonly fromTimestamp?: number }

function sessionOf({ clock }: Deps, cluster: Cluster): LogSession {
  const known = new Map<string, Promise<readonly number[]>>()
  const partitionsOf = (topic: string): Promise<readonly number[]> => {
    const partitions = known.get(topic) ?? currentPartitions(cluster, topic)
    known.set(topic, partitions)
    return partitions
  }

  /**
   * Returns one offset for each partition: its beginning, its end, or its first record at or after
   * a time (-1 if the partition has none).
   */
  async function offsetsAt(topic: string, at: AtTime): Promise<readonly number[]> {
    const partitions = (await partitionsOf(topic)).map(partition => ({ partition }))
    return asked(`cannot read the offsets of ${topic}`, async () => {
      const [answer] = await cluster.fetchTopicsOffset([{ topic, partitions, ...at }])
      const offsets = new Map(answer?.partitions.map(({ partition, offset }) => [partition, Number(offset)]))
      return partitions.map(({ partition }) => offsets.get(partition) ?? -1)
    })
  }

  async function read(of: TopicPartition, from: number, to: number, onRecord: Parameters<LogSession['read']>[3]) {
    const { topic, partition } = of
    await partitionsOf(topic)
    let position = from
    let empty = 0
    while (position < to) {
      const maxBytes = Math.min(Math.max((to - position) * bytesPerRecord, fetchBytes.min), fetchBytes.max)
      const node = leaderOf(cluster, topic, partition)
      const fetched = await asked(`cannot read ${topic}/${partition}`, () =>
        fetchFrom(cluster, { node, topic, wanted: [{ partition, position }], maxWaitMs, maxBytes }),
      )
      const { records, next } = fetched[0] ?? { records: [], next: position }
      for (const message of records) {
        const offset = Number(message.offset)
        if (offset >= position && offset < to) onRecord(toLogRecordView(topic, partition, message))
      }
      empty = next > position ? 0 : empty + 1
      if (empty > maxEmptyFetches)
        throw toKafkaError(
          `cannot read ${topic}/${partition}`,
          new Error(`fetches returned no records at offset ${position}, although the partition has more records`),
        )
      if (empty > 0) await refreshMetadataAfter(clock, cluster, retryDelay)
      position = next
    }
  }

  return {
    read,
    async ranges(topic) {
      const [beginnings, ends] = await rejectAfterAllSettled([
        offsetsAt(topic, { fromBeginning: true }),
        offsetsAt(topic, { fromBeginning: false }),
      ])
      return (ends ?? []).map((end, partition) => ({ beginning: beginnings?.[partition] ?? 0, end }))
    },
    // `at` must not be negative: in a ListOffsets request, -1 means the end and -2 the beginning.
    async offsetsSince(topic: string, at: EpochMs) {
      const [since, ends] = await rejectAfterAllSettled([
        offsetsAt(topic, { fromBeginning: false, fromTimestamp: Math.max(0, at) }),
        offsetsAt(topic, { fromBeginning: false }),
      ])
      return (ends ?? []).map((end, partition) => {
        const offset = since?.[partition] ?? -1
        return offset < 0 ? end : offset
      })
    },
    async commits(groupId, topic) {
      const partitions = await partitionsOf(topic)
      return asked(`cannot read the committed offsets of group ${groupId}`, async () => {
        const coordinator = await cluster.findGroupCoordinator({ groupId })
        const wanted = [{ topic, partitions: partitions.map(partition => ({ partition })) }]
        const { responses } = await coordinator.offsetFetch({ groupId, topics: wanted })
        const found = new Map(responses[0]?.partitions.map(commit => [commit.partition, commit]))
        return partitions.map(partition => {
          const commit = found.get(partition)
          return { offset: Number(commit?.offset ?? -1), metadata: commit?.metadata ?? '' }
        })
      })
    },
  }
}

/** The partitions of a topic, ascending. New partitions are found within half a minute. */
async function currentPartitions(cluster: Cluster, topic: string): Promise<readonly number[]> {
  await connectAndListPartitions(cluster, topic)
  await asked(`cannot read topic ${topic}`, () => cluster.refreshMetadataIfNecessary())
  return (await connectAndListPartitions(cluster, topic)).toSorted(ascending)
}

const ascending = (a: number, b: number): number => a - b

async function asked<T>(doing: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    throw toKafkaError(doing, error)
  }
}
