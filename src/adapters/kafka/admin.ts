import { setTimeout } from 'node:timers/promises'
import type { Admin } from 'kafkajs'
import type { TopicAdmin, TopicDescription } from '../../core/ports.ts'
import type { KafkaClient } from './client.ts'
import { codeOfThrown, kafkaError, topicMissing } from './errors.ts'
import { loadKafkajs } from './library.ts'

/** Together ten seconds. */
const hostedTries = 100
const hostedAgainAfterMs = 100
const notHostedYet: ReadonlySet<string> = new Set(['UNKNOWN_TOPIC_OR_PARTITION', 'LEADER_NOT_AVAILABLE'])

/**
 * Connects with the first call. All reject with KafkaErrors. `describe` leaves out topics that do not exist; `create` resolves as well when
 * somebody else was faster.
 */
export function createAdmin(kafka: KafkaClient): TopicAdmin {
  const admin = kafka.admin()
  let connected: Promise<void> | undefined

  function connect(): Promise<void> {
    connected ??= admin.connect().catch((error: unknown) => {
      connected = undefined
      throw error
    })
    return connected
  }

  async function ask<T>(doing: string, request: () => Promise<T>): Promise<T> {
    try {
      await connect()
      return await request()
    } catch (error) {
      throw kafkaError(doing, error)
    }
  }

  return {
    listTopics: () => ask('topics cannot be listed', () => admin.listTopics()),
    describe: topics => ask('topics cannot be described', () => onceHosted(() => describe(admin, topics))),
    create: ({ name, partitions, replicationFactor, config }) =>
      ask(`topic ${name} cannot be created`, async () => {
        const configEntries = Object.entries(config).map(([name, value]) => ({ name, value }))
        const topic = { topic: name, numPartitions: partitions, replicationFactor, configEntries }
        await admin.createTopics({ topics: [topic], waitForLeaders: false })
        await onceHosted(() => admin.fetchTopicMetadata({ topics: [name] }))
      }),
    close: () => admin.disconnect(),
  }
}

/**
 * For a moment after a topic was created one broker knows it and another one does not, and each question may go to any of them; kafkajs's own
 * waiting takes that for a failure.
 */
async function onceHosted<T>(request: () => Promise<T>): Promise<T> {
  for (let left = hostedTries; ; left--) {
    try {
      return await request()
    } catch (error) {
      if (left === 1 || !notHostedYet.has(codeOfThrown(error))) throw error
      await setTimeout(hostedAgainAfterMs)
    }
  }
}

async function describe(admin: Admin, topics: readonly string[]): Promise<readonly TopicDescription[]> {
  const existing = new Set(await admin.listTopics())
  const names = topics.filter(name => existing.has(name))
  if (names.length === 0) return []
  const { ConfigResourceTypes } = loadKafkajs()
  const [metadata, { resources }] = await Promise.all([
    admin.fetchTopicMetadata({ topics: names }),
    admin.describeConfigs({
      resources: names.map(name => ({ type: ConfigResourceTypes.TOPIC, name })),
      includeSynonyms: false,
    }),
  ])
  // The broker answers in an order of its own.
  const inOrder = metadata.topics.toSorted((a, b) => names.indexOf(a.name) - names.indexOf(b.name))
  return inOrder.map(({ name, partitions }) => {
    const entries = resources.find(({ resourceName }) => resourceName === name)?.configEntries ?? []
    return {
      name,
      partitions: partitions.length,
      replicationFactor: Math.min(...partitions.map(({ replicas }) => replicas.length)),
      config: Object.fromEntries(entries.map(({ configName, configValue }) => [configName, configValue])),
    }
  })
}

/** Over a connection of its own. @throws KafkaError `TOPIC_MISSING`, and what kafkajs throws. */
export async function partitionCount(kafka: KafkaClient, topic: string): Promise<number> {
  const admin = kafka.admin()
  try {
    await admin.connect()
    const { topics } = await admin.fetchTopicMetadata({ topics: [topic] })
    return topics[0]?.partitions.length as number
  } catch (error) {
    throw codeOfThrown(error) === 'UNKNOWN_TOPIC_OR_PARTITION' ? topicMissing(topic, error) : error
  } finally {
    await admin.disconnect()
  }
}
