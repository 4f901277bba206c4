import type {
  Admin,
  Consumer,
  ConsumerConfig,
  ISocketFactory,
  KafkaConfig,
  Producer,
  ProducerConfig,
  SASLOptions,
} from 'kafkajs'
import type { Logger } from '../../core/ports.ts'
import type { Settings } from '../../core/settings.ts'
import { internal } from './internals.ts'
import { loadKafkajs } from './library.ts'
import { kafkajsLogCreator } from './log.ts'
import { readHeadersAsText } from './patches/record-decoder.ts'

/** Every value given: under NODE_ENV=test kafkajs has other defaults. */
const retryShape = { factor: 0.2, multiplier: 2 }
/** Few: kafkajs tries the same broker each time. What is worth waiting for longer waits in `outlasting.ts`, with a new view of who leads. */
export const consumerRetry = { ...retryShape, initialRetryTime: 100, maxRetryTime: 500, retries: 5 }
/** Together some eight seconds: the election of a new leader takes three to five. */
export const producerRetry = { ...retryShape, initialRetryTime: 100, maxRetryTime: 1_000, retries: 10 }

/** TLS handshakes need more than kafkajs's one second. */
const connectionTimeoutMs = 5_000
const authenticationTimeoutMs = 10_000
/** A broker that is gone without a word is noticed after this long. */
const requestTimeoutMs = 10_000
/** New partitions and moved leaders are seen after this long at the latest. */
export const metadataMaxAgeMs = 30_000

/** Makes kafkajs's parts with the connection settings of an installation. */
export interface KafkaClient {
  /**
   * kafkajs shares committed offsets between the consumers of one client and group: so each gets a client of its own.
   * `onDial` is called before each connection that it opens.
   */
  consumer(config: ConsumerConfig, onDial?: () => void): Consumer
  producer(config: ProducerConfig): Producer
  admin(): Admin
}

export interface KafkaClientOptions {
  /** Whether open connections keep the process alive, as they do by default. */
  readonly keepsAlive?: boolean
  /** How often it tries again, before anything else is said; 5. */
  readonly retries?: number
}

/** Connects nowhere yet. @throws KafkaError `LIBRARY_VERSION` when kafkajs is not the version that our patches are for. */
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
      // A process of ours: the client library, which lives in others', has producers only.
      readHeadersAsText()
      return new Kafka({ ...config, socketFactory: notifyingSockets(onDial) }).consumer(consumerConfig)
    },
    producer: producerConfig => new Kafka(config).producer(producerConfig),
    admin: () => new Kafka(config).admin({ retry: consumerRetry }),
  }
}

/** Sockets as kafkajs makes them, for which the process does not stay. */
function detachedSockets(): ISocketFactory {
  const connect = internal<() => ISocketFactory>('network/socketFactory')()
  return place => connect(place).unref()
}

/** Sockets as kafkajs makes them; each is an attempt to reach a broker. */
function notifyingSockets(onDial: () => void = () => undefined): ISocketFactory {
  const connect = internal<() => ISocketFactory>('network/socketFactory')()
  return place => {
    onDial()
    return connect(place)
  }
}

/** Where the brokers are and how we show who we are. */
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
