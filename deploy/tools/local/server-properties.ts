import { randomBytes } from 'node:crypto'

export interface ServerProperties {
  readonly logDir: string
  readonly port: number
  /** A single node may use a different port for its controller at every start. */
  readonly controllerPort: number
  /** Additional properties, which override the defaults. */
  readonly properties?: Readonly<Record<string, string>>
}

/** For a single broker: one replica, and 4 partitions instead of 50 for a faster start. */
const internalTopics: Readonly<Record<string, string>> = {
  'offsets.topic.replication.factor': '1',
  'offsets.topic.num.partitions': '4',
  'transaction.state.log.replication.factor': '1',
  'transaction.state.log.min.isr': '1',
  'transaction.state.log.num.partitions': '4',
  'share.coordinator.state.topic.replication.factor': '1',
  'share.coordinator.state.topic.min.isr': '1',
  'share.coordinator.state.topic.num.partitions': '4',
}

/** Properties of a single broker, as a local process or in a container. */
export const singleBroker: Readonly<Record<string, string>> = {
  // A missing topic must cause an error.
  'auto.create.topics.enable': 'false',
  'default.replication.factor': '1',
  'min.insync.replicas': '1',
  ...internalTopics,
  // The first member of a group does not wait for others.
  'group.initial.rebalance.delay.ms': '0',
  // After a crash, a broker can join only when its previous session has expired (default: 9 s).
  'broker.session.timeout.ms': '3000',
  'broker.heartbeat.interval.ms': '500',
  'num.network.threads': '2',
  'num.io.threads': '4',
  'background.threads': '2',
  'log.cleaner.dedupe.buffer.size': '16777216',
  // Compacted topics are small here, so the cleaner can run every second.
  'log.cleaner.backoff.ms': '1000',
}

/** `server.properties` of a single broker and controller on the loopback interface. */
export function serverProperties({ logDir, port, controllerPort, properties = {} }: ServerProperties): string {
  const all: Record<string, string> = {
    'process.roles': 'broker,controller',
    'node.id': '1',
    'controller.quorum.voters': `1@127.0.0.1:${controllerPort}`,
    listeners: `PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}`,
    'advertised.listeners': `PLAINTEXT://127.0.0.1:${port}`,
    'controller.listener.names': 'CONTROLLER',
    'inter.broker.listener.name': 'PLAINTEXT',
    'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT',
    'log.dirs': logDir,
    ...singleBroker,
    ...properties,
  }
  return Object.entries(all)
    .map(([key, value]) => `${key}=${escapeValue(value)}\n`)
    .join('')
}

/** Escapes backslashes for a Java properties file. */
const escapeValue = (value: string): string => value.replaceAll('\\', '\\\\')

/** Environment variables of Kafka images: `num.io.threads` becomes KAFKA_NUM_IO_THREADS. */
export function asEnvironment(properties: Readonly<Record<string, string>>): Record<string, string> {
  const name = (key: string): string => `KAFKA_${key.toUpperCase().replaceAll('.', '_')}`
  return Object.fromEntries(Object.entries(properties).map(([key, value]) => [name(key), value]))
}

/**
 * Returns the text of `meta.properties`, which assigns a formatted log directory to a node of a
 * cluster.
 */
export function metaProperties(clusterId: string, nodeId = 1): string {
  return `version=1\nnode.id=${nodeId}\ncluster.id=${clusterId}\ndirectory.id=${newId()}\n`
}

/** A random Kafka id. Kafka's command line would parse an initial `-` as an option. */
export function newId(): string {
  return randomBytes(16).toString('base64url').replace(/^-/, 'A')
}
