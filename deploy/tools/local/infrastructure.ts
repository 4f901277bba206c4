import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startBroker } from './broker.ts'
import { findJava, oldestJava } from './java.ts'
import { tryKafkaContainer } from './kafka-container.ts'
import { kafkaJarsAreCached } from './kafka-jars.ts'
import { hasMaven } from './maven.ts'
import { freePorts } from './ports.ts'
import { registryIsCached, startRegistry } from './registry.ts'
import { type Attempt, firstOpenWay, type Way } from './ways.ts'

export interface Kafka {
  readonly brokers: readonly string[]
  /**
   * Resolves with the cause when a server that we started ends. Never resolves for an existing one.
   */
  readonly ended: Promise<string>
  /** Stops the server if we started it. */
  stop(): Promise<void>
}

export interface SchemaRegistry {
  readonly url: string
  readonly ended: Promise<string>
  stop(): Promise<void>
}

export interface Place {
  /** Directory for data that survives restarts. Without it, the data is deleted at the stop. */
  readonly dataDir?: string
  /** Default: a free port. */
  readonly port?: number
  readonly env?: NodeJS.ProcessEnv
  /** Gets one line that says which option is used, and why not the ones before it. */
  readonly log?: (line: string) => void
}

export interface KafkaPlace extends Place {
  /** Additional server properties for a broker that is started. */
  readonly properties?: Readonly<Record<string, string>>
}

const never = new Promise<string>(() => {})
const found = { ended: never, stop: async () => {} }
const installJava = `Install Java ${oldestJava} or newer and Maven (Debian, Ubuntu: apt-get install openjdk-17-jre-headless maven; macOS: brew install openjdk maven)`

/**
 * Finds or starts Kafka: the cluster of KAFKA_BROKERS, or else a container, or else Kafka's jars on
 * the local Java. HOOKLINE_KAFKA (`environment`, `container`, `jars`) allows only that option.
 * @throws NothingAvailable with the missing requirements, or the error of a broker that did not
 * start
 */
export async function findOrStartKafka(place: KafkaPlace = {}): Promise<Kafka> {
  const { env = process.env, log = say } = place
  const ways = { environment: kafkaOf(env), container: container(place), jars: jars(place) }
  const only = env['HOOKLINE_KAFKA']
  if (!only) return firstOpenWay('Kafka', Object.values(ways), log)
  const way = Object.entries(ways).find(([name]) => name === only)?.[1]
  if (way === undefined)
    throw new Error(`HOOKLINE_KAFKA: unknown value '${only}' (one of ${Object.keys(ways).join(', ')})`)
  return firstOpenWay('Kafka', [way], log)
}

/**
 * Finds the registry of SCHEMA_REGISTRY_URL, or else starts Apicurio. @throws as `findOrStartKafka`
 */
export async function findOrStartRegistry(place: Place = {}): Promise<SchemaRegistry> {
  const { env = process.env, log = say } = place
  return firstOpenWay('schema registry', [registryOf(env), apicurio(place)], log)
}

export interface Infrastructure {
  readonly kafka: Kafka
  readonly registry: SchemaRegistry
  /** Stops the servers that were started. */
  stop(): Promise<void>
}

/** Finds or starts both. If one fails, stops the other and throws an error with all problems. */
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

const kafkaOf = (env: NodeJS.ProcessEnv): Way<Kafka> => ({
  name: 'KAFKA_BROKERS',
  async attempt() {
    const brokers = (env['KAFKA_BROKERS'] ?? '')
      .split(',')
      .map(each => each.trim())
      .filter(Boolean)
    if (brokers.length === 0) return closed('not set', 'Set it to the brokers of a cluster: KAFKA_BROKERS=host:9092')
    return { kind: 'got', it: { ...found, brokers } }
  },
})

const container = (place: KafkaPlace): Way<Kafka> => ({
  name: 'a container',
  async attempt() {
    const { dataDir, port, properties, env = process.env } = place
    const attempt = await tryKafkaContainer({ image: env['KAFKA_TEST_IMAGE'] || undefined, dataDir, port, properties })
    if (attempt.kind === 'unavailable') return attempt
    const { address, ended, stop } = attempt.it
    return { kind: 'got', it: { brokers: [address], ended, stop } }
  },
})

const jars = (place: KafkaPlace): Way<Kafka> => ({
  name: "Kafka's jars",
  async attempt() {
    const lacking = await lackingForJava(kafkaJarsAreCached())
    if (lacking !== undefined) return closed(lacking, installJava)
    const dataDir = place.dataDir ?? (await temporaryDirectory('kafka'))
    const port = place.port ?? (await freePorts(1))
    const { properties = {} } = place
    const broker = await startBroker({ dataDir, port, properties, throwAway: place.dataDir === undefined })
    return { kind: 'got', it: { brokers: [broker.address], ended: broker.ended, stop: () => broker.stop() } }
  },
})

const registryOf = (env: NodeJS.ProcessEnv): Way<SchemaRegistry> => ({
  name: 'SCHEMA_REGISTRY_URL',
  async attempt() {
    const url = env['SCHEMA_REGISTRY_URL']
    if (!url) return closed('not set', 'Set it to the URL of a Confluent-compatible registry')
    return { kind: 'got', it: { ...found, url } }
  },
})

const apicurio = (place: Place): Way<SchemaRegistry> => ({
  name: 'Apicurio',
  async attempt() {
    const lacking = await lackingForJava(registryIsCached())
    if (lacking !== undefined) return closed(lacking, installJava)
    const throwAway = place.dataDir === undefined
    const dataDir = place.dataDir ?? (await temporaryDirectory('registry'))
    const port = place.port ?? (await freePorts(1))
    const registry = await startRegistry({ dataDir, port, store: throwAway ? 'memory' : 'file', throwAway })
    return { kind: 'got', it: { url: registry.url, ended: registry.ended, stop: () => registry.stop() } }
  },
})

const closed = (why: string, remedy: string): Attempt<never> => ({ kind: 'unavailable', why, remedy })

/** What is missing to run a Java server. Maven is needed only for the download. */
async function lackingForJava(isCached: boolean): Promise<string | undefined> {
  const search = await findJava()
  if (search.kind === 'missing') return search.why
  return isCached || (await hasMaven())
    ? undefined
    : `Java ${search.java.version} is installed, but Maven (mvn) is missing`
}

const temporaryDirectory = (what: string): Promise<string> => mkdtemp(join(tmpdir(), `hookline-${what}-`))
