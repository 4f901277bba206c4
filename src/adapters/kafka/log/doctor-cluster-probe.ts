import type { ClockReading } from '../../../core/doctor/cluster-and-clock.ts'
import type { Access } from '../../../core/doctor/kafka-permissions.ts'
import type { Logger } from '../../../core/ports.ts'
import type { Settings } from '../../../core/settings/settings.ts'
import { createKafka } from '../kafkajs/client.ts'
import { coordinatorErrors, errorCodeOf, toKafkaError } from '../kafkajs/errors.ts'
import { type Broker, type Cluster, internal } from '../kafkajs/private-api.ts'
import { createClusterClient } from './kafkajs-cluster-without-group.ts'

export interface BrokerCapabilities {
  /**
   * The requests that Hookline needs, but for which this broker and kafkajs have no common version.
   * The names are kafkajs's.
   */
  readonly unsupported: readonly string[]
}

/**
 * Checks a Kafka cluster for `hookline doctor`. All methods reject with KafkaErrors, without
 * retries.
 */
export interface ClusterProbe {
  /** Connects to one address, with TLS and authentication. */
  connect(address: string): Promise<BrokerCapabilities>
  /** Returns the advertised listeners of all brokers. */
  advertisedListeners(address: string): Promise<readonly string[]>
  /**
   * Returns the `needed` operations for which the client lacks permission. The check neither reads
   * nor writes records, and joins no group.
   */
  deniedAccess(address: string, needed: readonly Access[]): Promise<ReadonlySet<Access>>
  /**
   * Reads a broker's clock: writes tombstones to `topic`, which must be compacted, and returns
   * their append time. The tombstones delete nothing, because no record has their key.
   */
  readClock(topic: string): Promise<ClockReading>
}

/**
 * A partition number that no topic has. A request for it has no effect, but its response shows
 * whether the client has the permission, because a broker checks permissions first.
 */
const noPartition = 2 ** 31 - 2
/** kafkajs's names of the needed requests. GroupCoordinator is Kafka's FindCoordinator. */
const requests = [
  'Produce',
  'Fetch',
  'ListOffsets',
  'Metadata',
  'OffsetCommit',
  'OffsetFetch',
  'GroupCoordinator',
  'JoinGroup',
  'Heartbeat',
  'LeaveGroup',
  'SyncGroup',
  'CreateTopics',
  'DescribeConfigs',
]

export function createClusterProbe(settings: Settings['kafka'], { logger }: { readonly logger: Logger }): ClusterProbe {
  const clientOf = (brokers: readonly string[]) => createKafka({ ...settings, brokers }, logger, { retries: 0 })

  async function withConnection<T>(address: string, use: (cluster: Cluster, broker: Broker) => Promise<T>): Promise<T> {
    const cluster = createClusterClient(clientOf([address]))
    try {
      await cluster.connect()
      return await use(cluster, cluster.brokerPool.seedBroker)
    } catch (error) {
      throw toKafkaError('cannot be used', error)
    } finally {
      await cluster.disconnect()
    }
  }

  return {
    connect: address => withConnection(address, async (_, { versions }) => ({ unsupported: unsupportedOf(versions) })),
    advertisedListeners: address =>
      withConnection(address, async (_, broker) => {
        const { brokers } = await broker.metadata([])
        return brokers.map(({ host, port }) => `${host.includes(':') ? `[${host}]` : host}:${port}`)
      }),
    deniedAccess: (address, needed) =>
      withConnection(address, async (_, broker) => {
        const answers = await Promise.all(needed.map(access => isRefused(broker, access)))
        return new Set(needed.filter((_access, index) => answers[index]))
      }),
    async readClock(topic) {
      const producer = clientOf(settings.brokers).producer({ allowAutoTopicCreation: false, retry: { retries: 0 } })
      try {
        await producer.connect()
        // The first record also waits for connections, so only the second one is timed.
        await append()
        return await append()
      } catch (error) {
        throw toKafkaError(`cannot write a record to topic ${topic}`, error)
      } finally {
        await producer.disconnect()
      }

      async function append(): Promise<ClockReading> {
        const before = Date.now()
        const [answer] = await producer.send({ topic, acks: -1, messages: [{ key: '-/doctor', value: null }] })
        const time = Number(answer?.logAppendTime ?? -1)
        return { before, after: Date.now(), appended: time < 0 ? undefined : time }
      }
    },
  }
}

/**
 * Whether the client lacks permission for an operation. Sends a request that the broker rejects in
 * any case, and reads the error code.
 */
async function isRefused(broker: Broker, { to, name }: Access): Promise<boolean> {
  try {
    await ask(broker, to, name)
    return false
  } catch (error) {
    const code = errorCodeOf(error)
    if (code === 'TOPIC_AUTHORIZATION_FAILED' || code === 'GROUP_AUTHORIZATION_FAILED') return true
    if (authorizedErrorCodes.has(code)) return false
    throw error
  }
}

/** The error codes that a broker returns only to a client that has the permission. */
const authorizedErrorCodes: ReadonlySet<string> = new Set([
  'UNKNOWN_TOPIC_OR_PARTITION',
  'UNKNOWN_MEMBER_ID',
  ...coordinatorErrors,
])

function ask(broker: Broker, to: Access['to'], name: string): Promise<unknown> {
  switch (to) {
    case 'read': {
      const partitions = [{ partition: noPartition, fetchOffset: '0', maxBytes: 1 }]
      return broker.fetch({
        maxWaitTime: 0,
        minBytes: 0,
        maxBytes: 1,
        isolationLevel: 1,
        topics: [{ topic: name, partitions }],
      })
    }
    case 'write': {
      const partitions = [{ partition: noPartition, messages: [{ key: null, value: null }] }]
      return broker.produce({ acks: -1, timeout: 1_000, topicData: [{ topic: name, partitions }] })
    }
    case 'join':
      return broker.heartbeat({ groupId: name, memberId: 'doctor', groupGenerationId: 1 })
  }
}

interface VersionRange {
  readonly minVersion: number
  readonly maxVersion: number
}

/**
 * Returns the requests for which kafkajs and the broker have no version in common. kafkajs itself
 * compares only the maximum versions.
 */
function unsupportedOf(versions: Readonly<Record<number, VersionRange>>): readonly string[] {
  const keys = internal<Readonly<Record<string, number>>>('protocol/requests/apiKeys')
  const { requests: known } = internal<{ requests: Readonly<Record<string, { versions: readonly string[] }>> }>(
    'protocol/requests',
  )
  return requests.filter(name => {
    const range = versions[keys[name] as number]
    const supported = (known[name]?.versions ?? []).map(Number)
    return range === undefined || !supported.some(version => version >= range.minVersion && version <= range.maxVersion)
  })
}
