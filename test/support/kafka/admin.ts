import kafkajs from 'kafkajs'

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
  deleteTopic(topic: string): Promise<void>
  /** Deletes all records of these partitions, as retention does. */
  deleteRecords(topic: string, partitions: readonly number[]): Promise<void>
  /** Deletes groups without members, with their committed offsets. */
  deleteGroups(groupIds: readonly string[]): Promise<void>
  close(): Promise<void>
}

/** Kafka's *config source* of a setting that is set on the topic itself, not on the broker. */
const ofTopic = kafkajs.ConfigSource.TOPIC_CONFIG

export async function createAdminClient(brokers = process.env['KAFKA_BROKERS'] ?? ''): Promise<AdminClient> {
  const kafka = new kafkajs.Kafka({ brokers: brokers.split(','), logLevel: kafkajs.logLevel.NOTHING })
  const admin = kafka.admin()
  await admin.connect()
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
    deleteTopic: topic => admin.deleteTopics({ topics: [topic] }),
    committed: async (groupId, topic) => {
      const [offsets] = await admin.fetchOffsets({ groupId, topics: [topic] })
      return (offsets?.partitions ?? []).reduce((sum, { offset }) => sum + Math.max(0, Number(offset)), 0)
    },
    positions: async (groupId, topic) => {
      const [found] = await admin.fetchOffsets({ groupId, topics: [topic] })
      const partitions = [...(found?.partitions ?? [])].sort((a, b) => a.partition - b.partition)
      return partitions.map(({ offset, metadata }) => ({ offset: Number(offset), metadata: metadata ?? '' }))
    },
    members: async (groupId, topic) => {
      const { groups } = await admin.describeGroups([groupId])
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
