import kafkajs, { type Admin } from 'kafkajs'
import { onceReady } from './retry-until-broker-ready.ts'

export interface CommittedPosition {
  readonly offset: number
  readonly metadata: string
}

export interface AdminClient {
  /** Resolves when the broker applies the new configuration. */
  setTopicConfig(topic: string, config: Readonly<Record<string, string>>): Promise<void>
  /** The sum of a group's committed offsets over the partitions of a topic. */
  committed(groupId: string, topic: string): Promise<number>
  /** The committed offset of each partition, or -1. */
  positions(groupId: string, topic: string): Promise<readonly CommittedPosition[]>
  /** Partitions of each member. Undefined while the group rebalances. */
  members(groupId: string, topic: string): Promise<ReadonlyMap<string, readonly number[]> | undefined>
  /** Creates topics with one partition. Resolves when the broker knows them. */
  createTopics(topics: readonly string[]): Promise<void>
  deleteTopic(topic: string): Promise<void>
  deleteRecords(topic: string, partitions: readonly number[]): Promise<void>
  deleteGroups(groupIds: readonly string[]): Promise<void>
  close(): Promise<void>
}

/** A setting of the topic itself. */
const ofTopic = kafkajs.ConfigSource.TOPIC_CONFIG

async function connect(brokers: string[]): Promise<Admin> {
  const admin = new kafkajs.Kafka({ brokers, logLevel: kafkajs.logLevel.NOTHING }).admin()
  await admin.connect()
  return admin
}

/**
 * Waits until the brokers have loaded the group coordinators. Loading starts at the first request
 * about a group, and requests fail until it ends.
 */
export async function untilGroupsAreLoaded(brokers: readonly string[]): Promise<void> {
  const admin = await connect([...brokers])
  try {
    // Consecutive characters have consecutive hashes, so these ids select all of up to 50
    // partitions of the offsets topic.
    const groupIds = Array.from({ length: 50 }, (_, index) => String.fromCharCode(65 + index))
    for (const groupId of groupIds) await onceReady(() => admin.fetchOffsets({ groupId }))
  } finally {
    await admin.disconnect()
  }
}

export async function createAdminClient(brokers = process.env['KAFKA_BROKERS'] ?? ''): Promise<AdminClient> {
  const admin = await connect(brokers.split(','))
  return {
    setTopicConfig: async (topic, config) => {
      const configEntries = Object.entries(config).map(([name, value]) => ({ name, value }))
      const resource = { type: kafkajs.ConfigResourceTypes.TOPIC, name: topic }
      await admin.alterConfigs({ validateOnly: false, resources: [{ ...resource, configEntries }] })
      // The controller has stored the change, but the broker applies it later.
      await until(async () => {
        const { resources } = await admin.describeConfigs({ includeSynonyms: false, resources: [resource] })
        const own = resources[0]?.configEntries.filter(({ configSource }) => configSource === ofTopic) ?? []
        const isSet = own.every(({ configName, configValue }) => config[configName] === configValue)
        return (isSet && own.length === configEntries.length) || undefined
      })
    },
    createTopics: async topics => {
      // With `waitForLeaders`, kafkajs fails if the broker does not know a new topic yet.
      await admin.createTopics({ waitForLeaders: false, topics: topics.map(topic => ({ topic, numPartitions: 1 })) })
      await onceReady(() => admin.fetchTopicMetadata({ topics: [...topics] }))
    },
    deleteTopic: topic => admin.deleteTopics({ topics: [topic] }),
    committed: async (groupId, topic) => {
      const [offsets] = await onceReady(() => admin.fetchOffsets({ groupId, topics: [topic] }))
      return (offsets?.partitions ?? []).reduce((sum, { offset }) => sum + Math.max(0, Number(offset)), 0)
    },
    positions: async (groupId, topic) => {
      const [found] = await onceReady(() => admin.fetchOffsets({ groupId, topics: [topic] }))
      const partitions = [...(found?.partitions ?? [])].sort((a, b) => a.partition - b.partition)
      return partitions.map(({ offset, metadata }) => ({ offset: Number(offset), metadata: metadata ?? '' }))
    },
    members: async (groupId, topic) => {
      const { groups } = await onceReady(() => admin.describeGroups([groupId]))
      if (groups[0]?.state !== 'Stable') return undefined
      const decode = kafkajs.AssignerProtocol.MemberAssignment.decode
      return new Map(
        groups[0].members.map(({ memberId, memberAssignment }) => [
          memberId,
          decode(memberAssignment)?.assignment[topic] ?? [],
        ]),
      )
    },
    deleteRecords: async (topic, partitions) => {
      // Makes kafkajs fetch the metadata. Otherwise, it does not know the leaders.
      await admin.fetchTopicOffsets(topic)
      await admin.deleteTopicRecords({ topic, partitions: partitions.map(partition => ({ partition, offset: '-1' })) })
    },
    async deleteGroups(groupIds) {
      await admin.deleteGroups([...groupIds])
    },
    close: () => admin.disconnect(),
  }
}

/** Repeats `ask` until it returns a value, without a time limit. */
export async function until<T>(ask: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const answer = await ask()
    if (answer !== undefined) return answer
    await new Promise(resolve => setTimeout(resolve, 50))
  }
}
