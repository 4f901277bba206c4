import kafkajs, { type Admin } from 'kafkajs'
import { systemClock } from '../../../src/adapters/clock/clock.ts'
import { createKafka } from '../../../src/adapters/kafka/kafkajs/client.ts'
import { createReader } from '../../../src/adapters/kafka/log/reader.ts'
import { silent } from '../../support/telemetry/silent-logger.ts'
import { type Commit, commitOf, isWhole, partitionOfGroup } from './commit-log.ts'

/** What Kafka says of the installation, asked from outside. All but `close` reject while no broker can answer. */
export interface KafkaView {
  /** What an administrator could do to it. */
  readonly admin: Admin
  /** Partition → the node that leads it, and how many replicas are in sync. */
  leaders(
    topic: string,
  ): Promise<
    ReadonlyMap<number, { readonly node: number; readonly inSync: number; readonly replicas: readonly number[] }>
  >
  /** The node that coordinates a consumer group. */
  coordinator(group: string): Promise<number>
  /** Partition → committed offset; without those that have none. */
  committed(group: string, topic: string): Promise<ReadonlyMap<number, number>>
  /** All commits of the group in this topic, in the order in which they were made. Rejects when there is less than what is committed. */
  commits(group: string, topic: string): Promise<readonly Commit[]>
  /** Partition → the offset of its first record. */
  beginnings(topic: string): Promise<ReadonlyMap<number, number>>
  /** Partition → the offset that its next record gets. */
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

  /** Who leads this partition coordinates the group. */
  async function positionsOf(group: string): Promise<{ readonly partition: number; readonly node: number }> {
    const partitions = await leaders(positionsTopic)
    const partition = partitionOfGroup(group, partitions.size)
    return { partition, node: partitions.get(partition)?.node ?? -1 }
  }

  async function readCommits(group: string, topic: string): Promise<readonly Commit[]> {
    const client = createKafka({ brokers, clientId: 'chaos', tls: undefined, sasl: undefined }, silent)
    const reader = createReader({ kafka: client, clock: systemClock, logger: silent })
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
      throw new Error(`${positionsTopic} does not tell all that ${group} has committed`)
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
