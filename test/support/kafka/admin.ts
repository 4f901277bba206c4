import kafkajs, { type Admin } from 'kafkajs'
import { onceReady } from './retry-until-broker-ready.ts'

export interface CommittedPosition {
  readonly offset: number
  readonly metadata: string
}

/** Operations of a Kafka administrator that tests need. */
export interface AdminClient {
  /** Replaces the configuration of a topic. Resolves when the broker applies it. */
  setTopicConfig(topic: string, config: Readonly<Record<string, string>>): Promise<void>
  /** The sum of the committed offsets of a group over the partitions of a topic. */
  committed(groupId: string, topic: string): Promise<number>
  /** The committed offset of each partition, or -1 if there is none. */
  positions(groupId: string, topic: string): Promise<readonly CommittedPosition[]>
  /** The partitions that each member owns. Undefined while the group rebalances. */
  members(groupId: string, topic: string): Promise<ReadonlyMap<string, readonly number[]> | undefined>
  /** Creates topics with one partition. Resolves when the broker knows them. */
  createTopics(topics: readonly string[]): Promise<void>
  deleteTopic(topic: string): Promise<void>
  /** Deletes all records of these partitions, as retention does. */
  deleteRecords(topic: string, partitions: readonly number[]): Promise<void>
  /** Deletes groups without members, with their committed offsets. */
  deleteGroups(groupIds: readonly string[]): Promise<void>
  close(): Promise<void>
}

/** Kafka's *config source* of a setting that is set on the topic itself, not on the broker. */
const ofTopic = kafkajs.ConfigSource.TOPIC_CONFIG

async function connect(brokers: string[]): Promise<Admin> {
  const admin = new kafkajs.Kafka({ brokers, logLevel: kafkajs.logLevel.NOTHING }).admin()
  await admin.connect()
  return admin
}

/**
 * Resolves when the brokers have loaded the coordinators of all groups. A new broker creates the
 * topic of the committed offsets at the first request about a group. Until it has loaded a
 * partition of this topic, requests about the groups of this partition fail.
 */
export async function untilGroupsAreLoaded(brokers: readonly string[]): Promise<void> {
  const admin = await connect([...brokers])
  try {
    // The hash of a group's id selects its partition. Consecutive characters have consecutive
    // hashes, so these ids select all partitions if there are at most 50, which is the default.
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
      // The response comes when the controller has stored the change. The broker applies it later.
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
      // Makes kafkajs fetch the metadata of the topic. Without it, kafkajs does not know the
      // leaders.
      await admin.fetchTopicOffsets(topic)
      await admin.deleteTopicRecords({ topic, partitions: partitions.map(partition => ({ partition, offset: '-1' })) })
    },
    async deleteGroups(groupIds) {
      await admin.deleteGroups([...groupIds])
    },
    close: () => admin.disconnect(),
  }
}

/** Repeats `ask` until it returns a value. It has no time limit of its own. */
export async function until<T>(ask: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const answer = await ask()
    if (answer !== undefined) return answer
    await new Promise(resolve => setTimeout(resolve, 50))
  }
}
