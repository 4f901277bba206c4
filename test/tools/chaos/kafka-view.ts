import kafkajs, { type Admin } from 'kafkajs'
import { processClock } from '../../../src/adapters/clock/process-clock.ts'
import { createKafka } from '../../../src/adapters/kafka/kafkajs/client.ts'
import { createReader } from '../../../src/adapters/kafka/log/topic-reader.ts'
import { silent } from '../../support/telemetry/silent-logger.ts'
import { type Commit, commitOf, isWhole, partitionOfGroup } from './offset-commits.ts'

/**
 * State of the installation in Kafka. All methods except `close` reject while no broker responds.
 */
export interface KafkaView {
  readonly admin: Admin
  /** For each partition, its leader and the number of replicas in sync. */
  leaders(
    topic: string,
  ): Promise<
    ReadonlyMap<number, { readonly node: number; readonly inSync: number; readonly replicas: readonly number[] }>
  >
  /** Node id of the group coordinator. */
  coordinator(group: string): Promise<number>
  /** Committed offset by partition. Partitions without a commit are left out. */
  committed(group: string, topic: string): Promise<ReadonlyMap<number, number>>
  /**
   * All commits of the group for this topic, in log order. Rejects if the coordinator reports other
   * offsets.
   */
  commits(group: string, topic: string): Promise<readonly Commit[]>
  /** Offset of the first record, by partition. */
  beginnings(topic: string): Promise<ReadonlyMap<number, number>>
  /** Offset of the next record to be written, by partition. */
  ends(topic: string): Promise<ReadonlyMap<number, number>>
  close(): Promise<void>
}

const positionsTopic = '__consumer_offsets'

export async function createKafkaView(brokers: readonly string[]): Promise<KafkaView> {
  const kafka = new kafkajs.Kafka({
    brokers: [...brokers],
    clientId: 'chaos',
    logLevel: kafkajs.logLevel.NOTHING,
    connectionTimeout: 2_000,
    requestTimeout: 5_000,
    retry: { initialRetryTime: 100, maxRetryTime: 500, retries: 8 },
  })
  const admin: Admin = kafka.admin()
  await admin.connect()

  const leaders: KafkaView['leaders'] = async topic => {
    const { topics } = await admin.fetchTopicMetadata({ topics: [topic] })
    const partitions = topics[0]?.partitions ?? []
    return new Map(
      partitions.map(({ partitionId, leader, isr, replicas }) => [
        partitionId,
        { node: leader, inSync: isr.length, replicas },
      ]),
    )
  }

  /**
   * Finds the group's partition of `__consumer_offsets`, and its leader, which is the group
   * coordinator.
   */
  async function positionsOf(group: string): Promise<{ readonly partition: number; readonly node: number }> {
    const partitions = await leaders(positionsTopic)
    const partition = partitionOfGroup(group, partitions.size)
    return { partition, node: partitions.get(partition)?.node ?? -1 }
  }

  async function readCommits(group: string, topic: string): Promise<readonly Commit[]> {
    const client = createKafka({ brokers, clientId: 'chaos', tls: undefined, sasl: undefined }, silent)
    const reader = createReader({ kafka: client, clock: processClock, logger: silent })
    const { partition } = await positionsOf(group)
    const commits: Commit[] = []
    await reader.readPartition({ topic: positionsTopic, partition }, ({ key, value }) => {
      const commit = commitOf(key, value)
      if (commit?.group === group && commit.topic === topic) commits.push(commit)
    })
    return commits
  }

  const committedBy: KafkaView['committed'] = async (groupId, topic) => {
    const [found] = await admin.fetchOffsets({ groupId, topics: [topic] })
    const committed = (found?.partitions ?? []).map(each => [each.partition, Number(each.offset)] as const)
    return new Map(committed.filter(([, offset]) => offset >= 0))
  }

  return {
    admin,
    leaders,
    coordinator: async group => (await positionsOf(group)).node,
    async commits(group, topic) {
      const commits = await readCommits(group, topic)
      if (isWhole(commits, await committedBy(group, topic))) return commits
      throw new Error(`${positionsTopic} does not have all commits of ${group}`)
    },
    committed: committedBy,
    async beginnings(topic) {
      const found = await admin.fetchTopicOffsets(topic)
      return new Map(found.map(({ partition, low }) => [partition, Number(low)]))
    },
    async ends(topic) {
      const found = await admin.fetchTopicOffsets(topic)
      return new Map(found.map(({ partition, high }) => [partition, Number(high)]))
    },
    close: () => admin.disconnect(),
  }
}
