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
import { loadKafkajs } from './load-kafkajs.ts'
import { readHeadersAsText } from './patch-record-decoder.ts'
import { internal } from './private-api.ts'

/**
 * Growth and jitter of retry delays. kafkajs's own values are different when NODE_ENV is `test`.
 */
const retryShape = { factor: 0.2, multiplier: 2 }
/**
 * Retries of all requests except produce requests. There are few, because kafkajs sends all retries
 * to the same broker, even if it is down. `group/keep-membership-during-failover.ts` retries
 * heartbeats and fetches for longer.
 */
export const consumerRetry = { ...retryShape, initialRetryTime: 100, maxRetryTime: 500, retries: 5 }
/** Retries of produce requests: about 8 s in total. A leader election takes 3 to 5 s. */
export const producerRetry = { ...retryShape, initialRetryTime: 100, maxRetryTime: 1_000, retries: 10 }

/** kafkajs's default of 1 s may be too short for a TLS handshake. */
const connectionTimeoutMs = 5_000
const authenticationTimeoutMs = 10_000
const requestTimeoutMs = 10_000
/**
 * Kafka's `metadata.max.age.ms`: the maximum time until clients find new partitions and leaders.
 */
export const metadataMaxAgeMs = 30_000

/** Creates kafkajs's consumers, producers and admin clients for one cluster. */
export interface KafkaClient {
  /**
   * Creates a consumer with its own client instance: in one instance, kafkajs shares the committed
   * offsets of a group between all consumers. `onDial` is called before each connect.
   */
  consumer(config: ConsumerConfig, onDial?: () => void): Consumer
  producer(config: ProducerConfig): Producer
  admin(): Admin
}

export interface KafkaClientOptions {
  /** Whether connections of producers and admin clients keep the process alive; true by default. */
  readonly keepsAlive?: boolean
  /** The number of retries when a client connects or reads metadata; 5 by default. */
  readonly retries?: number
}

/**
 * Creates the client. It opens no connection yet.
 * @throws KafkaError `LIBRARY_VERSION` when the installed kafkajs is not the patched version
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
      // `readHeadersAsText` changes kafkajs for the whole process. It does not affect users of
      // `@hookline/client-kafka`, because this library creates no consumers.
      readHeadersAsText()
      return new Kafka({ ...config, socketFactory: notifyingSockets(onDial) }).consumer(consumerConfig)
    },
    producer: producerConfig => new Kafka(config).producer(producerConfig),
    admin: () => new Kafka(config).admin({ retry: consumerRetry }),
  }
}

/** A socket factory whose sockets do not keep the process alive. */
function detachedSockets(): ISocketFactory {
  const connect = internal<() => ISocketFactory>('network/socketFactory')()
  return place => connect(place).unref()
}

/** A socket factory that calls `onDial` before each connection. */
function notifyingSockets(onDial: () => void = () => undefined): ISocketFactory {
  const connect = internal<() => ISocketFactory>('network/socketFactory')()
  return place => {
    onDial()
    return connect(place)
  }
}

/** Converts the settings to kafkajs's configuration of brokers, TLS and SASL. */
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

/** The value of kafkajs's `logLevel.ERROR`. An import of this enum would load kafkajs. */
const errorLevel = 1
/** Minimum milliseconds between two equal warnings. kafkajs may repeat one many times a second. */
const repeatAfterMs = 10_000

/**
 * Creates the logger of kafkajs. ERROR lines become warnings, because kafkajs retries after them.
 * Error responses, repetitions within 10 s and other levels become debug lines.
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
    const isWarning = entry.level === errorLevel && !isResponse(entry) && !isRepeated(line)
    logger[isWarning ? 'warn' : 'debug'](factsOf(entry), line)
  }
}

/**
 * Whether the line reports an error response. This line does not become a warning, because kafkajs
 * also throws the error, and the caller handles it.
 */
const isResponse = ({ log }: LogEntry): boolean => log.message.startsWith('Response ')

/** The fields of the log line, except objects, which may be whole requests. */
function factsOf({ namespace, log }: LogEntry): Record<string, string | number | boolean> {
  const facts: Record<string, string | number | boolean> = { part: namespace }
  for (const [name, value] of Object.entries(log)) {
    if (name === 'message' || name === 'timestamp' || name === 'logger' || name === 'stack') continue
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') facts[name] = value
  }
  return facts
}
