import type { Admin } from 'kafkajs'
import type { TopicAdmin, TopicDescription } from '../../../core/ports.ts'
import type { KafkaClient } from '../kafkajs/client.ts'
import { errorCodeOf, propagationErrors, toKafkaError, topicMissing } from '../kafkajs/errors.ts'
import { loadKafkajs } from '../kafkajs/load-kafkajs.ts'
import { brokerError, leaderNotAvailable } from '../kafkajs/patch-metadata.ts'
import { retryOn } from './retry-on-error-codes.ts'

/**
 * Creates a client that administers topics. `describe` omits topics that do not exist. `create`
 * also resolves when the topic exists already.
 * @throws KafkaErrors
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
      throw toKafkaError(doing, error)
    }
  }

  return {
    listTopics: () => ask('cannot list topics', () => admin.listTopics()),
    describe: topics => ask('cannot describe topics', () => oncePropagated(() => describe(admin, topics))),
    create: ({ name, partitions, replicationFactor, config }) =>
      ask(`cannot create topic ${name}`, async () => {
        const configEntries = Object.entries(config).map(([name, value]) => ({ name, value }))
        const topic = { topic: name, numPartitions: partitions, replicationFactor, configEntries }
        await admin.createTopics({ topics: [topic], waitForLeaders: false })
        await oncePropagated(async () => {
          const { topics } = await admin.fetchTopicMetadata({ topics: [name] })
          const hasLeaders = topics.every(each => each.partitions.every(({ leader }) => leader >= 0))
          if (!hasLeaders) throw brokerError(leaderNotAvailable)
        })
      }),
    close: () => admin.disconnect(),
  }
}

/**
 * Repeats a request until the broker knows a new topic. kafkajs's option `waitForLeaders` would
 * throw an error instead of waiting.
 */
const oncePropagated = <T>(request: () => Promise<T>): Promise<T> => retryOn(propagationErrors, request)

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
  // The broker returns the topics in its own order.
  const inOrder = metadata.topics.toSorted((a, b) => names.indexOf(a.name) - names.indexOf(b.name))
  return inOrder.map(({ name, partitions }) => {
    const entries = resources.find(({ resourceName }) => resourceName === name)?.configEntries ?? []
    const config = Object.fromEntries(entries.map(({ configName, configValue }) => [configName, configValue]))
    const minIsr = Number(config['min.insync.replicas'] ?? 1)
    return {
      name,
      partitions: partitions.length,
      replicationFactor: Math.min(...partitions.map(({ replicas }) => replicas.length)),
      leaderless: partitions.filter(({ leader }) => leader < 0).length,
      underMinIsr: partitions.filter(({ leader, isr }) => leader >= 0 && isr.length < minIsr).length,
      config,
    }
  })
}

/**
 * Looks up the number of partitions of a topic, over a new connection.
 * @throws KafkaError `TOPIC_MISSING`; kafkajs's error for all other failures
 */
export async function partitionCount(kafka: KafkaClient, topic: string): Promise<number> {
  const admin = kafka.admin()
  try {
    await admin.connect()
    const { topics } = await admin.fetchTopicMetadata({ topics: [topic] })
    return topics[0]?.partitions.length as number
  } catch (error) {
    throw errorCodeOf(error) === 'UNKNOWN_TOPIC_OR_PARTITION' ? topicMissing(topic, error) : error
  } finally {
    await admin.disconnect()
  }
}
