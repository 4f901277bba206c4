import type { Access } from '../../../core/doctor/access.ts'
import type { ClockReading } from '../../../core/doctor/cluster.ts'
import type { Logger } from '../../../core/ports.ts'
import type { Settings } from '../../../core/settings/settings.ts'
import { createKafka } from '../kafkajs/client.ts'
import { codeOfThrown, kafkaError } from '../kafkajs/errors.ts'
import { type Broker, type Cluster, internal } from '../kafkajs/private-api.ts'
import { clusterOf } from './fetch.ts'

/** What a broker tells an authenticated client about itself. */
export interface BrokerCapabilities {
  /**
   * Kafka's names of the requests that Hookline makes and that share no version with this broker.
   */
  readonly unsupported: readonly string[]
}

/**
 * Checks a cluster in the way the services use it. All methods reject with KafkaErrors, after one
 * try.
 */
export interface ClusterProbe {
  /** Connects to one address: TCP, TLS, authentication, request versions. */
  reach(address: string): Promise<BrokerCapabilities>
  /** The advertised listeners of all brokers, as the broker at `address` lists them. */
  advertised(address: string): Promise<readonly string[]>
  /** Which of these the broker at `address` refuses. Nothing is read, written or joined. */
  refused(address: string, needed: readonly Access[]): Promise<ReadonlySet<Access>>
  /** Reads the broker's clock: writes a tombstone with an unused key to a compacted topic. */
  readClock(topic: string): Promise<ClockReading>
}

/** No topic has this partition: the broker checks authorisation first and then finds nothing. */
const noPartition = 2 ** 31 - 2
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

export function createClusterProbe(
  settings: Settings['kafka'],
  { logger, now = Date.now }: { readonly logger: Logger; readonly now?: () => number },
): ClusterProbe {
  const clientOf = (brokers: readonly string[]) => createKafka({ ...settings, brokers }, logger, { retries: 0 })

  async function connected<T>(address: string, ask: (cluster: Cluster, broker: Broker) => Promise<T>): Promise<T> {
    const cluster = clusterOf(clientOf([address]))
    try {
      await cluster.connect()
      return await ask(cluster, cluster.brokerPool.seedBroker)
    } catch (error) {
      throw kafkaError('cannot be used', error)
    } finally {
      await cluster.disconnect()
    }
  }

  return {
    reach: address => connected(address, async (_, { versions }) => ({ unsupported: unsupportedOf(versions) })),
    advertised: address =>
      connected(address, async (_, broker) => {
        const { brokers } = await broker.metadata([])
        return brokers.map(({ host, port }) => `${host.includes(':') ? `[${host}]` : host}:${port}`)
      }),
    refused: (address, needed) =>
      connected(address, async (_, broker) => {
        const answers = await Promise.all(needed.map(access => isRefused(broker, access)))
        return new Set(needed.filter((_access, index) => answers[index]))
      }),
    async readClock(topic) {
      const producer = clientOf(settings.brokers).producer({ allowAutoTopicCreation: false, retry: { retries: 0 } })
      try {
        await producer.connect()
        // The first record waits for connections: only the second one is timed.
        await append()
        return await append()
      } catch (error) {
        throw kafkaError(`a record for ${topic} is not stored`, error)
      } finally {
        await producer.disconnect()
      }

      async function append(): Promise<ClockReading> {
        const before = now()
        const [answer] = await producer.send({ topic, acks: -1, messages: [{ key: '-/doctor', value: null }] })
        const time = Number(answer?.logAppendTime ?? -1)
        return { before, after: now(), appended: time < 0 ? undefined : time }
      }
    },
  }
}

/** Makes a request that must fail: its error tells only whether it is authorised. */
async function isRefused(broker: Broker, { to, name }: Access): Promise<boolean> {
  try {
    await ask(broker, to, name)
    return false
  } catch (error) {
    const code = codeOfThrown(error)
    if (code === 'TOPIC_AUTHORIZATION_FAILED' || code === 'GROUP_AUTHORIZATION_FAILED') return true
    if (expected.has(code)) return false
    throw error
  }
}

const expected: ReadonlySet<string> = new Set([
  'UNKNOWN_TOPIC_OR_PARTITION',
  'UNKNOWN_MEMBER_ID',
  'NOT_COORDINATOR_FOR_GROUP',
  'GROUP_COORDINATOR_NOT_AVAILABLE',
  'GROUP_LOAD_IN_PROGRESS',
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
 * kafkajs compares only the newest versions: it does not notice a broker that dropped all that it
 * knows.
 */
function unsupportedOf(versions: Readonly<Record<number, VersionRange>>): readonly string[] {
  const keys = internal<Readonly<Record<string, number>>>('protocol/requests/apiKeys')
  const { requests: known } = internal<{ requests: Readonly<Record<string, { versions: readonly string[] }>> }>(
    'protocol/requests',
  )
  return requests.filter(name => {
    const range = versions[keys[name] as number]
    const ours = (known[name]?.versions ?? []).map(Number)
    return range === undefined || !ours.some(version => version >= range.minVersion && version <= range.maxVersion)
  })
}
