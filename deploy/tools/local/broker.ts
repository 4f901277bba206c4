import { existsSync } from 'node:fs'
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findJava, type Java } from './java.ts'
import { classArchive, startJavaServer } from './java-server.ts'
import { type KafkaJars, kafkaJars } from './kafka-jars.ts'
import { clusterMetadata } from './metadata-probe.ts'
import { assertFree, freePorts } from './ports.ts'
import { metaProperties, newId, serverProperties } from './server-properties.ts'

export interface BrokerOptions {
  /** What it holds survives a restart on the same directory. */
  readonly dataDir: string
  /** On 127.0.0.1. */
  readonly port: number
  /** Without it, any free one. */
  readonly controllerPort?: number
  /** More server properties; they beat ours. */
  readonly properties?: Readonly<Record<string, string>>
  /** More flags for the JVM, for example `-Xmx1g`; of two the last one counts. */
  readonly jvm?: readonly string[]
  /** `stop` removes the data directory, and so does the guard when we are killed. */
  readonly throwAway?: boolean
  /** One of several brokers of a cluster; without it, node 1 of a cluster of its own. */
  readonly member?: ClusterMember
}

export interface ClusterMember {
  readonly clusterId: string
  readonly nodeId: number
}

export interface Broker {
  /** `127.0.0.1:port` */
  readonly address: string
  readonly pid: number
  /** Resolves with how the process ended, whoever ended it. */
  readonly ended: Promise<string>
  /** SIGTERM, and SIGKILL when that did not end it within `patienceMs` (five seconds). */
  stop(patienceMs?: number): Promise<void>
  /** SIGKILL: a crash. The data stays. */
  kill(): Promise<void>
}

/**
 * Starts one real Kafka broker from Kafka's own jars and resolves when it answers.
 * @throws when no Java fits, the port is in use, or it does not come up within three minutes (the message ends with the end of its log).
 */
export async function startBroker(options: BrokerOptions): Promise<Broker> {
  const search = await findJava()
  if (search.kind === 'missing') throw new Error(`Kafka needs Java: ${search.why}`)
  const { java } = search
  await assertFree(options.port, 'Kafka')
  const jars = await kafkaJars(java)
  const archive = await classArchive(jars.directory, java, async (dataDir, flag) =>
    launch(java, jars, { dataDir, port: await freePorts(1), jvm: [flag] }),
  )
  return launch(java, jars, { ...options, jvm: [...archive, ...(options.jvm ?? [])] })
}

async function launch(java: Java, jars: KafkaJars, options: BrokerOptions): Promise<Broker> {
  const { dataDir, port, jvm = [], throwAway } = options
  const address = `127.0.0.1:${port}`
  await mkdir(dataDir, { recursive: true })
  const logDir = join(dataDir, 'log')
  const properties = join(dataDir, 'server.properties')
  const controllerPort = options.controllerPort ?? (await freePorts(1))
  await writeFile(properties, serverProperties({ ...options, controllerPort, logDir }))
  const clusterId = await formatOnce(logDir, jars, options.member)
  const logging = `-Dlog4j2.configurationFile=${join(import.meta.dirname, 'log4j2.properties')}`
  const server = await startJavaServer({
    name: 'Kafka',
    java,
    args: [...jvm, logging, '-cp', jars.classPath, 'kafka.Kafka', properties],
    dataDir,
    throwAway,
    // Its cluster id tells it from another broker that took the port in the meantime.
    isReady: async () => {
      const found = await clusterMetadata('127.0.0.1', port).catch(() => undefined)
      return found?.clusterId === clusterId && found.brokers.includes(address)
    },
  })
  return { ...server, address }
}

/** Makes a log directory this cluster's at its first start; returns the cluster's id. */
async function formatOnce(
  logDir: string,
  jars: KafkaJars,
  { clusterId, nodeId }: ClusterMember = { clusterId: newId(), nodeId: 1 },
): Promise<string> {
  const meta = join(logDir, 'meta.properties')
  if (!existsSync(meta)) {
    await cp(jars.formatted, logDir, { recursive: true })
    await writeFile(meta, metaProperties(clusterId, nodeId))
  }
  const id = /^cluster\.id=(.+)$/m.exec(await readFile(meta, 'utf8'))?.[1]
  if (id === undefined) throw new Error(`${meta} names no cluster.id`)
  return id
}
