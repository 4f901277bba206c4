import { setTimeout } from 'node:timers/promises'
import type { Admin } from 'kafkajs'
import type { LogPositions, Position, TopicAdmin, TopicDescription } from '../../../core/ports.ts'
import type { KafkaClient } from '../kafkajs/client.ts'
import {
  coordinatorErrors,
  errorCodeOf,
  leaderErrors,
  propagationErrors,
  toKafkaError,
  topicMissing,
} from '../kafkajs/errors.ts'
import { loadKafkajs } from '../kafkajs/load-kafkajs.ts'
import { brokerError, leaderNotAvailable } from '../kafkajs/patch-metadata.ts'

/** Maximum tries of a request while the brokers are not ready for it: about ten seconds. */
const maxTries = 100
const retryAfterMs = 100

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
const oncePropagated = <T>(request: () => Promise<T>): Promise<T> => repeatOn(propagationErrors, request)

/**
 * Repeats a request that fails with one of these errors, for about ten seconds.
 * @param codes the codes of the errors, from `errorCodeOf`
 */
async function repeatOn<T>(codes: ReadonlySet<string>, request: () => Promise<T>): Promise<T> {
  for (let remaining = maxTries; ; remaining--) {
    try {
      return await request()
    } catch (error) {
      if (remaining === 1 || !codes.has(errorCodeOf(error))) throw error
      await setTimeout(retryAfterMs)
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

/**
 * Creates a client that reads end offsets and committed offsets, with a connection for each call.
 * All methods reject with KafkaErrors.
 */
export function createLogPositions(kafka: KafkaClient): LogPositions {
  async function ask<T>(topic: string, question: (admin: Admin) => Promise<T>): Promise<T> {
    const admin = kafka.admin()
    try {
      await admin.connect()
      return await question(admin)
    } catch (error) {
      if (errorCodeOf(error) === 'UNKNOWN_TOPIC_OR_PARTITION') throw topicMissing(topic, error)
      throw toKafkaError(`cannot read the offsets of topic ${topic}`, error)
    } finally {
      await admin.disconnect()
    }
  }

  return {
    ends: topic =>
      repeatOn(leaderErrors, () => ask(topic, async admin => byPartition(await admin.fetchTopicOffsets(topic)))),
    committed: (groupId, topic) =>
      ask(topic, async admin => {
        const [answer] = await fetchOffsets(admin, { groupId, topics: [topic] })
        return byPartition(answer?.partitions ?? [])
      }),
  }
}

/**
 * Reads all committed offsets of a group, with their metadata.
 * @throws KafkaError
 */
export async function readCommits(kafka: KafkaClient, groupId: string): Promise<readonly Position[]> {
  const admin = kafka.admin()
  try {
    await admin.connect()
    const topics = await fetchOffsets(admin, { groupId })
    return topics.flatMap(({ topic, partitions }) =>
      partitions.map(({ partition, offset, metadata }) => ({
        ...{ topic, partition, offset: Number(offset), metadata: metadata ?? '' },
      })),
    )
  } catch (error) {
    throw toKafkaError(`cannot read the commits of group ${groupId}`, error)
  } finally {
    await admin.disconnect()
  }
}

/** Fetches committed offsets. kafkajs does not retry while the coordinator starts. */
const fetchOffsets = (admin: Admin, request: Parameters<Admin['fetchOffsets']>[0]): ReturnType<Admin['fetchOffsets']> =>
  repeatOn(coordinatorErrors, () => admin.fetchOffsets(request))

/** Sorts the offsets by partition. */
const byPartition = (offsets: readonly { readonly partition: number; readonly offset: string }[]): readonly number[] =>
  offsets.toSorted((a, b) => a.partition - b.partition).map(({ offset }) => Number(offset))
