import { existsSync } from 'node:fs'
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findJava, type Java, oldestJava } from './find-java.ts'
import { assertFree, freePorts } from './free-ports.ts'
import { classArchive, startJavaServer } from './java-server.ts'
import { type KafkaJars, kafkaJars } from './kafka-jars.ts'
import { clusterMetadata } from './request-cluster-metadata.ts'
import { metaProperties, newId, serverProperties } from './server-properties.ts'

export interface BrokerOptions {
  /** The data directory, which survives a restart of the broker. */
  readonly dataDir: string
  readonly port: number
  /** Default: a free port. */
  readonly controllerPort?: number
  /** Additional server properties. They override the defaults. */
  readonly properties?: Readonly<Record<string, string>>
  /** Additional JVM flags, for example `-Xmx1g`. They override the default flags. */
  readonly jvm?: readonly string[]
  /** Deletes the data directory at `stop`, or when this process is killed. */
  readonly throwAway?: boolean
  /** Default: the only node of a new cluster. */
  readonly member?: ClusterMember
}

export interface ClusterMember {
  readonly clusterId: string
  readonly nodeId: number
}

export interface Broker {
  /** The address for clients: `127.0.0.1:port` */
  readonly address: string
  /** Kafka's log directory, with one directory for each partition. */
  readonly logDir: string
  readonly pid: number
  /** Resolves with the cause when the process ends. */
  readonly ended: Promise<string>
  /** `patienceMs`: time from SIGTERM to SIGKILL, by default 5 s. */
  stop(patienceMs?: number): Promise<void>
  /** Sends SIGKILL. The data stays. */
  kill(): Promise<void>
}

/**
 * Starts a Kafka broker from Kafka's jars. Resolves when the broker responds.
 * @throws when Java is missing, the port in use, or the start fails
 */
export async function startBroker(options: BrokerOptions): Promise<Broker> {
  const search = await findJava()
  if (search.kind === 'missing')
    throw new Error(
      `Kafka needs Java ${oldestJava} or newer, but ${search.why}: install Java ${oldestJava}, or set JAVA_HOME to its directory`,
    )
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
    // Another broker may have taken the port, so the cluster id is compared.
    isReady: async () => {
      const found = await clusterMetadata('127.0.0.1', port).catch(() => undefined)
      return found?.clusterId === clusterId && found.brokers.includes(address)
    },
  })
  return { ...server, address, logDir }
}

/** Formats the log directory at the first start. Returns the cluster id. */
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
  if (id === undefined) throw new Error(`${meta} has no cluster.id: to start with an empty Kafka, delete ${logDir}`)
  return id
}
