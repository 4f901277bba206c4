import kafkajs from 'kafkajs'

export interface CommittedPosition {
  readonly offset: number
  readonly metadata: string
}

/** What tests do to a cluster from outside. */
export interface AdminClient {
  /** Replaces a topic's own configuration; resolves when the broker goes by it. */
  setTopicConfig(topic: string, config: Readonly<Record<string, string>>): Promise<void>
  /** The committed offsets of a group, summed over the partitions of a topic. */
  committed(groupId: string, topic: string): Promise<number>
  /** What the group has committed, partition by partition; offset -1: nothing. */
  positions(groupId: string, topic: string): Promise<readonly CommittedPosition[]>
  /** The member that owns each partition of the topic; undefined while the group rebalances. */
  members(groupId: string, topic: string): Promise<ReadonlyMap<string, readonly number[]> | undefined>
  deleteTopic(topic: string): Promise<void>
  /** As retention does: all records of these partitions are gone. */
  deleteRecords(topic: string, partitions: readonly number[]): Promise<void>
  close(): Promise<void>
}

/** A value that the topic itself has, and not the broker or Kafka. */
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
      // It is answered as soon as the controller has it.
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
      // kafkajs looks for the leaders before it has asked anybody: this makes it ask.
      await admin.fetchTopicOffsets(topic)
      await admin.deleteTopicRecords({ topic, partitions: partitions.map(partition => ({ partition, offset: '-1' })) })
    },
    close: () => admin.disconnect(),
  }
}

/** Asks again, without a fixed wait in the test, until there is an answer; the test's own time limit ends it. */
export async function until<T>(ask: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const answer = await ask()
    if (answer !== undefined) return answer
    await new Promise(resolve => setTimeout(resolve, 50))
  }
}
