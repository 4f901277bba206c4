import kafkajs from 'kafkajs'

/** What tests do to a cluster from outside. */
export interface AdminClient {
  /** Replaces a topic's own configuration. */
  setTopicConfig(topic: string, config: Readonly<Record<string, string>>): Promise<void>
  /** The committed offsets of a group, summed over the partitions of a topic. */
  committed(groupId: string, topic: string): Promise<number>
  close(): Promise<void>
}

export async function createAdminClient(brokers = process.env['KAFKA_BROKERS'] ?? ''): Promise<AdminClient> {
  const kafka = new kafkajs.Kafka({ brokers: brokers.split(','), logLevel: kafkajs.logLevel.NOTHING })
  const admin = kafka.admin()
  await admin.connect()
  return {
    setTopicConfig: async (topic, config) => {
      const configEntries = Object.entries(config).map(([name, value]) => ({ name, value }))
      await admin.alterConfigs({
        validateOnly: false,
        resources: [{ type: kafkajs.ConfigResourceTypes.TOPIC, name: topic, configEntries }],
      })
    },
    committed: async (groupId, topic) => {
      const [offsets] = await admin.fetchOffsets({ groupId, topics: [topic] })
      return (offsets?.partitions ?? []).reduce((sum, { offset }) => sum + Math.max(0, Number(offset)), 0)
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
