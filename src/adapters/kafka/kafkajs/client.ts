import type {
  Admin,
  Consumer,
  ConsumerConfig,
  ISocketFactory,
  KafkaConfig,
  LogEntry,
  logCreator,
  Producer,
  ProducerConfig,
  SASLOptions,
} from 'kafkajs'
import type { Logger } from '../../../core/ports.ts'
import type { Settings } from '../../../core/settings/settings.ts'
import { loadKafkajs } from './kafkajs.ts'
import { readHeadersAsText } from './patches/record-decoder.ts'
import { internal } from './private-api.ts'

/** Names every value: under NODE_ENV=test kafkajs has other defaults. */
const retryShape = { factor: 0.2, multiplier: 2 }
/**
 * Few retries: kafkajs sends each to the same broker. `group/session.ts` waits longer for a
 * failover, with fresh metadata.
 */
export const consumerRetry = { ...retryShape, initialRetryTime: 100, maxRetryTime: 500, retries: 5 }
/** Some eight seconds in total: the election of a new leader takes three to five. */
export const producerRetry = { ...retryShape, initialRetryTime: 100, maxRetryTime: 1_000, retries: 10 }

/** TLS handshakes need more than kafkajs's one second. */
const connectionTimeoutMs = 5_000
const authenticationTimeoutMs = 10_000
/** The time after which a broker that vanished without closing its connections is noticed. */
const requestTimeoutMs = 10_000
/** The maximum time until new partitions and moved leaders are noticed. */
export const metadataMaxAgeMs = 30_000

/** Creates kafkajs's clients with the connection settings of an installation. */
export interface KafkaClient {
  /**
   * Creates a consumer on its own client: kafkajs shares committed offsets between the consumers of
   * one client and group. `onDial` is called before it opens a connection.
   */
  consumer(config: ConsumerConfig, onDial?: () => void): Consumer
  producer(config: ProducerConfig): Producer
  admin(): Admin
}

export interface KafkaClientOptions {
  /** Whether open connections keep the process alive, as they do by default. */
  readonly keepsAlive?: boolean
  /** The number of retries of a request; 5 by default. */
  readonly retries?: number
}

/**
 * Creates the client, without any connection yet.
 * @throws KafkaError `LIBRARY_VERSION` when kafkajs is not the version that the patches are for
 */
export function createKafka(
  settings: Settings['kafka'],
  logger: Logger,
  { keepsAlive = true, retries = consumerRetry.retries }: KafkaClientOptions = {},
): KafkaClient {
  const { Kafka, logLevel } = loadKafkajs()
  const config: KafkaConfig = {
    ...connectionOf(settings),
    connectionTimeout: connectionTimeoutMs,
    authenticationTimeout: authenticationTimeoutMs,
    requestTimeout: requestTimeoutMs,
    retry: { ...consumerRetry, retries },
    logLevel: logLevel.INFO,
    logCreator: kafkajsLogCreator(logger),
    ...(keepsAlive ? {} : { socketFactory: detachedSockets() }),
  }
  return {
    consumer: (consumerConfig, onDial) => {
      // Only Hookline's own processes have consumers: the client library has producers only.
      readHeadersAsText()
      return new Kafka({ ...config, socketFactory: notifyingSockets(onDial) }).consumer(consumerConfig)
    },
    producer: producerConfig => new Kafka(config).producer(producerConfig),
    admin: () => new Kafka(config).admin({ retry: consumerRetry }),
  }
}

/** kafkajs's sockets, unreferenced: they do not keep the process alive. */
function detachedSockets(): ISocketFactory {
  const connect = internal<() => ISocketFactory>('network/socketFactory')()
  return place => connect(place).unref()
}

/** kafkajs's sockets, with a call before each connection. */
function notifyingSockets(onDial: () => void = () => undefined): ISocketFactory {
  const connect = internal<() => ISocketFactory>('network/socketFactory')()
  return place => {
    onDial()
    return connect(place)
  }
}

/** The brokers, and how to authenticate. */
export function connectionOf({ brokers, clientId, tls, sasl }: Settings['kafka']): KafkaConfig {
  return {
    brokers: [...brokers],
    clientId,
    ...(tls === undefined
      ? {}
      : {
          ssl: {
            ...(tls.ca === undefined ? {} : { ca: [tls.ca] }),
            ...(tls.cert === undefined ? {} : { cert: tls.cert }),
            ...(tls.key === undefined ? {} : { key: tls.key.reveal() }),
          },
        }),
    ...(sasl === undefined
      ? {}
      : {
          sasl: {
            mechanism: sasl.mechanism,
            username: sasl.username.reveal(),
            password: sasl.password.reveal(),
          } as SASLOptions,
        }),
  }
}

/** kafkajs's log level for errors. It is public; its module is not loaded for one number. */
const errorLevel = 1
/** While a broker is away kafkajs logs it several times a second. */
const repeatAfterMs = 10_000

/**
 * Writes kafkajs's log lines to Hookline's log. kafkajs retries after what it logs as an error, and
 * throws what it does not retry: so its errors become warnings, each line at most every ten
 * seconds, and all other lines (joins, rebalances, partitioners) are for debugging.
 */
export function kafkajsLogCreator(logger: Logger, monotonic: () => number = () => performance.now()): logCreator {
  const lastWarned = new Map<string, number>()

  function isRepeated(line: string): boolean {
    const now = monotonic()
    if (now - (lastWarned.get(line) ?? Number.NEGATIVE_INFINITY) < repeatAfterMs) return true
    if (lastWarned.size > 1_000) lastWarned.clear()
    lastWarned.set(line, now)
    return false
  }

  return () => entry => {
    const line = `kafkajs: ${entry.log.message}`
    const isWarning = entry.level === errorLevel && !isAnswer(entry) && !isRepeated(line)
    logger[isWarning ? 'warn' : 'debug'](factsOf(entry), line)
  }
}

/**
 * Error answers of a broker are also thrown, and whether they matter is known there only: no
 * coordinator yet, a member id is required.
 */
const isAnswer = ({ log }: LogEntry): boolean => log.message.startsWith('Response ')

/** Plain values only: a nested value may be a whole request. */
function factsOf({ namespace, log }: LogEntry): Record<string, string | number | boolean> {
  const facts: Record<string, string | number | boolean> = { part: namespace }
  for (const [name, value] of Object.entries(log)) {
    if (name === 'message' || name === 'timestamp' || name === 'logger' || name === 'stack') continue
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') facts[name] = value
  }
  return facts
}
