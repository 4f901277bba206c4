import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startBroker } from './broker.ts'
import { hasMaven } from './fetch-with-maven.ts'
import { findJava, oldestJava } from './find-java.ts'
import { firstAvailable, type Option, unavailable } from './first-available-option.ts'
import { freePorts } from './free-ports.ts'
import { tryKafkaContainer } from './kafka-container.ts'
import { kafkaJarsAreCached } from './kafka-jars.ts'
import { registryIsCached, startRegistry } from './schema-registry.ts'

export interface Kafka {
  readonly brokers: readonly string[]
  /** Log directory of a broker that this process started from Kafka's jars. */
  readonly logDir?: string
  /** If this process started the server: resolves with the cause when the server ends. */
  readonly ended: Promise<string>
  /** Stops the server if this process started it. */
  stop(): Promise<void>
}

export interface SchemaRegistry {
  readonly url: string
  readonly ended: Promise<string>
  stop(): Promise<void>
}

export interface Place {
  /** Without a directory, the data is deleted at the stop. */
  readonly dataDir?: string
  /** Port of the server on this machine. Default: a free port. */
  readonly port?: number
  readonly env?: NodeJS.ProcessEnv
  /** Gets one line: which option is used, and why the options before it are not available. */
  readonly log?: (line: string) => void
}

export interface KafkaPlace extends Place {
  /** Additional server properties for a broker that is started. */
  readonly properties?: Readonly<Record<string, string>>
  /** Additional JVM flags for a broker that is started from Kafka's jars. */
  readonly jvm?: readonly string[]
}

const never = new Promise<string>(() => {})
const found = { ended: never, stop: async () => {} }
const installJava = `Install Java ${oldestJava} or newer and Maven (Debian, Ubuntu: apt-get install openjdk-17-jre-headless maven; macOS: brew install openjdk maven)`

/**
 * Finds or starts Kafka. The variable HOOKLINE_KAFKA names the only option to try.
 * @throws NothingAvailable, or the error of a broker's start
 */
export async function findOrStartKafka(place: KafkaPlace = {}): Promise<Kafka> {
  const { env = process.env, log = say } = place
  const options = { environment: kafkaOf(env), container: container(place), jars: jars(place) }
  const only = env['HOOKLINE_KAFKA']
  if (!only) return firstAvailable('Kafka', Object.values(options), log)
  const option = Object.entries(options).find(([name]) => name === only)?.[1]
  if (option === undefined)
    throw new Error(`HOOKLINE_KAFKA: unknown value '${only}' (possible: ${Object.keys(options).join(', ')})`)
  return firstAvailable('Kafka', [option], log)
}

/**
 * Finds the registry of SCHEMA_REGISTRY_URL, otherwise starts Apicurio.
 * @throws the same errors as `findOrStartKafka`
 */
export async function findOrStartRegistry(place: Place = {}): Promise<SchemaRegistry> {
  const { env = process.env, log = say } = place
  return firstAvailable('Schema registry', [registryOf(env), apicurio(place)], log)
}

export interface Infrastructure {
  readonly kafka: Kafka
  readonly registry: SchemaRegistry
  stop(): Promise<void>
}

/**
 * Finds or starts Kafka and the registry. If one fails, stops the other and throws all problems.
 */
export async function findOrStartInfrastructure(places: {
  readonly kafka?: KafkaPlace
  readonly registry?: Place
}): Promise<Infrastructure> {
  const results = await Promise.allSettled([findOrStartKafka(places.kafka), findOrStartRegistry(places.registry)])
  const [kafka, registry] = results
  const stop = async (): Promise<void> => {
    await Promise.all(results.map(each => (each.status === 'fulfilled' ? each.value.stop() : undefined)))
  }
  if (kafka.status === 'fulfilled' && registry.status === 'fulfilled') {
    return { kafka: kafka.value, registry: registry.value, stop }
  }
  await stop()
  const errors = results.flatMap(each => (each.status === 'rejected' ? [each.reason as Error] : []))
  throw new AggregateError(errors, errors.map(error => error.message).join('\n'))
}

const say = (line: string): void => void process.stderr.write(`${line}\n`)

const kafkaOf = (env: NodeJS.ProcessEnv): Option<Kafka> => ({
  name: 'KAFKA_BROKERS',
  async find() {
    const brokers = (env['KAFKA_BROKERS'] ?? '')
      .split(',')
      .map(each => each.trim())
      .filter(Boolean)
    if (brokers.length === 0)
      return unavailable('not set', 'Set it to the brokers of a cluster: KAFKA_BROKERS=host:9092')
    return { kind: 'available', value: { ...found, brokers } }
  },
})

const container = (place: KafkaPlace): Option<Kafka> => ({
  name: 'a container',
  async find() {
    const { dataDir, port, properties, env = process.env } = place
    const found = await tryKafkaContainer({ image: env['KAFKA_TEST_IMAGE'] || undefined, dataDir, port, properties })
    if (found.kind === 'unavailable') return found
    const { address, ended, stop } = found.value
    return { kind: 'available', value: { brokers: [address], ended, stop } }
  },
})

const jars = (place: KafkaPlace): Option<Kafka> => ({
  name: "Kafka's jars",
  async find() {
    const lacking = await lackingForJava(kafkaJarsAreCached())
    if (lacking !== undefined) return unavailable(lacking, installJava)
    const dataDir = place.dataDir ?? (await temporaryDirectory('kafka'))
    const port = place.port ?? (await freePorts(1))
    const { properties = {}, jvm = [] } = place
    const broker = await startBroker({ dataDir, port, properties, jvm, throwAway: place.dataDir === undefined })
    return {
      kind: 'available',
      value: { brokers: [broker.address], logDir: broker.logDir, ended: broker.ended, stop: () => broker.stop() },
    }
  },
})

const registryOf = (env: NodeJS.ProcessEnv): Option<SchemaRegistry> => ({
  name: 'SCHEMA_REGISTRY_URL',
  async find() {
    const url = env['SCHEMA_REGISTRY_URL']
    if (!url) return unavailable('not set', 'Set it to the URL of a Confluent-compatible registry')
    return { kind: 'available', value: { ...found, url } }
  },
})

const apicurio = (place: Place): Option<SchemaRegistry> => ({
  name: 'Apicurio',
  async find() {
    const lacking = await lackingForJava(registryIsCached())
    if (lacking !== undefined) return unavailable(lacking, installJava)
    const throwAway = place.dataDir === undefined
    const dataDir = place.dataDir ?? (await temporaryDirectory('registry'))
    const port = place.port ?? (await freePorts(1))
    const registry = await startRegistry({ dataDir, port, store: throwAway ? 'memory' : 'file', throwAway })
    return { kind: 'available', value: { url: registry.url, ended: registry.ended, stop: () => registry.stop() } }
  },
})

/** What is missing to run a Java server. Maven is needed only to download the server. */
async function lackingForJava(isCached: boolean): Promise<string | undefined> {
  const search = await findJava()
  if (search.kind === 'missing') return search.why
  return isCached || (await hasMaven())
    ? undefined
    : `Java ${search.java.version} is installed, but Maven (mvn) is missing`
}

const temporaryDirectory = (what: string): Promise<string> => mkdtemp(join(tmpdir(), `hookline-${what}-`))
