import { randomBytes } from 'node:crypto'

export interface ServerProperties {
  readonly logDir: string
  readonly port: number
  /** A cluster is not bound to it: alone in its quorum, a controller may have another port at every start. */
  readonly controllerPort: number
  /** Beats the properties below. */
  readonly properties?: Readonly<Record<string, string>>
}

/** One broker can hold one replica; four partitions instead of fifty make the first use of a group or a transaction quick. */
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

/** How a broker that is alone behaves, whether it runs here or in a container. */
export const singleBroker: Readonly<Record<string, string>> = {
  // A topic that somebody forgot must fail, not appear with one partition.
  'auto.create.topics.enable': 'false',
  'default.replication.factor': '1',
  'min.insync.replicas': '1',
  ...internalTopics,
  // The first member of a group need not wait for others.
  'group.initial.rebalance.delay.ms': '0',
  // After a crash the controller lets it come back only when the session of its former life is over (9 s unless said).
  'broker.session.timeout.ms': '3000',
  'broker.heartbeat.interval.ms': '500',
  'num.network.threads': '2',
  'num.io.threads': '4',
  'background.threads': '2',
  'log.cleaner.dedupe.buffer.size': '16777216',
  // Compacted topics are small here: the cleaner may look after them every second.
  'log.cleaner.backoff.ms': '1000',
}

/** `server.properties` of a single broker that is its own controller, on the loopback interface only. */
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

/** A backslash begins an escape in a Java properties file. */
const escapeValue = (value: string): string => value.replaceAll('\\', '\\\\')

/** The same properties in the form that Kafka's images read: `num.io.threads` is KAFKA_NUM_IO_THREADS. */
export function asEnvironment(properties: Readonly<Record<string, string>>): Record<string, string> {
  const name = (key: string): string => `KAFKA_${key.toUpperCase().replaceAll('.', '_')}`
  return Object.fromEntries(Object.entries(properties).map(([key, value]) => [name(key), value]))
}

/** `meta.properties`: what makes a formatted log directory this node of this cluster. */
export function metaProperties(clusterId: string, nodeId = 1): string {
  return `version=1\nnode.id=${nodeId}\ncluster.id=${clusterId}\ndirectory.id=${newId()}\n`
}

/** A Kafka id: 16 random bytes in base64url. Never with a leading `-`, which Kafka's command line would take for an option. */
export function newId(): string {
  return randomBytes(16).toString('base64url').replace(/^-/, 'A')
}
