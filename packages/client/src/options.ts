import { maxMessageBytes } from '../../../src/core/message/message-size-limits.ts'
import { longestTimerMs } from './clock.ts'
import { ConfigError } from './errors.ts'
import type { Failure } from './failure.ts'
import { maxBatchMessages } from './message-queue.ts'
import type { Transport } from './transport.ts'

/** What a call does when the queue is full. */
export type OnFull = 'error' | 'drop-oldest' | 'wait'

/** The options of the queue and its listeners. Times are in milliseconds. */
export interface QueueOptions {
  /**
   * Number of queued messages that starts a flush, and the maximum per request. While more than ten
   * times this number are queued, the maximum per request is 2500. Values: 1 to 2500. Default: 20.
   */
  readonly size?: number | undefined
  /** Alias of `size`. */
  readonly flushAt?: number | undefined
  /**
   * Maximum time in milliseconds that a message waits in the queue, unless an earlier batch is
   * being sent. Default 5000.
   */
  readonly flushAfter?: number | undefined
  /** Alias of `flushAfter`. */
  readonly interval?: number | undefined
  /** Maximum number of retries of one request. Default 10. */
  readonly maxRetries?: number | undefined
  /**
   * Maximum time in milliseconds for which an otherwise idle process stays alive to send queued
   * messages. Default 10000.
   */
  readonly exitTimeoutMs?: number | undefined
  /** Maximum messages in the queue. Default 50000. */
  readonly maxQueueMessages?: number | undefined
  /** Maximum UTF-8 bytes of the messages in the queue. At least 32768, default 67108864. */
  readonly maxQueueBytes?: number | undefined
  /**
   * What a call does when the queue is full:
   * - `error` (default): throws `QueueFull`.
   * - `drop-oldest`: drops the oldest queued message.
   * - `wait`: returns a promise that resolves when the queue has room. At twice the limits, the
   *   call throws `QueueFull`.
   */
  readonly onFull?: OnFull | undefined
  /** Called with messages that were not delivered. Without it, failures are logged on stderr. */
  readonly onFailure?: ((failure: Failure) => void) | undefined
  /** Called with the ids of messages that the collector (or Kafka) has accepted. */
  readonly onSent?: ((messageIds: readonly string[]) => void) | undefined
}

/** The settings of a client that sends to a collector. */
export interface AnalyticsOptions extends QueueOptions {
  /** URL of the collector: a base URL, to which `/v1/batch` is added, or a full URL. Required. */
  readonly endpoint: string
  /** Time limit of one request in milliseconds. Default 10000. */
  readonly timeoutMs?: number | undefined
}

/** The settings of a client that does not send to a collector. */
export interface TransportOptions extends QueueOptions {
  /**
   * For example `kafkaTransport(…)` of `@hookline/client-kafka`. Each client needs its own
   * transport.
   */
  readonly transport: Transport
}

type Given<Name extends keyof QueueOptions> = NonNullable<QueueOptions[Name]>

/** The validated options, with aliases and defaults resolved. */
export interface QueueSettings {
  readonly size: number
  readonly flushAfter: number
  readonly maxRetries: number
  readonly exitTimeoutMs: number
  readonly maxQueueMessages: number
  readonly maxQueueBytes: number
  readonly onFull: OnFull
  readonly onFailure: Given<'onFailure'> | undefined
  readonly onSent: Given<'onSent'> | undefined
}

export interface Settings extends QueueSettings {
  readonly writeKey: string
  readonly url: string
  readonly timeoutMs: number
}

const queueNames: readonly string[] = [
  'size',
  'flushAt',
  'flushAfter',
  'interval',
  'maxRetries',
  'exitTimeoutMs',
  'maxQueueMessages',
  'maxQueueBytes',
  'onFull',
  'onFailure',
  'onSent',
] satisfies (keyof QueueOptions)[]
const httpNames: readonly string[] = ['endpoint', 'timeoutMs'] satisfies (keyof AnalyticsOptions)[]
const transportNames: readonly string[] = ['transport'] satisfies (keyof TransportOptions)[]
const policies: readonly unknown[] = ['error', 'drop-oldest', 'wait'] satisfies OnFull[]
const maxWriteKeyLength = 1_000

/** @throws ConfigError for the first invalid setting */
export function settingsOf(writeKey: string, options: AnalyticsOptions): Settings {
  if (typeof writeKey !== 'string' || writeKey === '' || writeKey.length > maxWriteKeyLength)
    throw new ConfigError(
      'writeKey',
      "'writeKey' must be the write key of a source: new Analytics(writeKey, { endpoint }).",
    )
  const given: unknown = options
  if (typeof given !== 'object' || given === null)
    throw new ConfigError('endpoint', "'endpoint' is required: new Analytics(writeKey, { endpoint: 'https://…' }).")
  rejectUnknown(options, httpNames)
  return {
    ...queueSettingsOf(options),
    writeKey,
    url: urlOf(options.endpoint),
    timeoutMs: numbersOf(options)(['timeoutMs'], 10_000, 1, longestTimerMs),
  }
}

/** Whether the first argument of `new Analytics` has a transport. */
export const hasTransport = (given: unknown): given is TransportOptions =>
  typeof given === 'object' && given !== null && 'transport' in given

/** @throws ConfigError for the first invalid setting */
export function transportSettingsOf(options: TransportOptions): QueueSettings {
  rejectUnknown(options, transportNames)
  const { transport } = options as { transport: Partial<Transport> | undefined }
  if (typeof transport?.send !== 'function' || typeof transport.envelopeBytes !== 'number')
    throw new ConfigError(
      'transport',
      "'transport' must be a transport, such as kafkaTransport(…) of '@hookline/client-kafka'.",
    )
  return queueSettingsOf(options)
}

function queueSettingsOf(options: QueueOptions): QueueSettings {
  const number = numbersOf(options)
  const size = number(['size', 'flushAt'], 20, 1, maxBatchMessages)
  const onFull = options.onFull ?? 'error'
  if (!policies.includes(onFull)) throw new ConfigError('onFull', `'onFull' must be one of ${policies.join(', ')}.`)
  return {
    size,
    flushAfter: number(['flushAfter', 'interval'], 5_000, 1, longestTimerMs),
    maxRetries: number(['maxRetries'], 10, 0, 1_000),
    exitTimeoutMs: number(['exitTimeoutMs'], 10_000, 0, longestTimerMs),
    maxQueueMessages: number(['maxQueueMessages'], 50_000, size, Number.MAX_SAFE_INTEGER),
    maxQueueBytes: number(['maxQueueBytes'], 64 * 1_048_576, maxMessageBytes, Number.MAX_SAFE_INTEGER),
    onFull,
    onFailure: listener('onFailure', options.onFailure),
    onSent: listener('onSent', options.onSent),
  }
}

function rejectUnknown(options: object, ownNames: readonly string[]): void {
  const names = [...ownNames, ...queueNames]
  const unknown = Object.keys(options).find(name => !names.includes(name))
  if (unknown === undefined) return
  const similar = names.find(name => name.toLowerCase() === unknown.toLowerCase())
  const advice = similar === undefined ? `possible: ${names.join(', ')}` : `did you mean '${similar}'?`
  throw new ConfigError(unknown, `unknown setting '${unknown}' (${advice})`)
}

type NumberName =
  | 'size'
  | 'flushAt'
  | 'flushAfter'
  | 'interval'
  | 'maxRetries'
  | 'timeoutMs'
  | 'exitTimeoutMs'
  | 'maxQueueMessages'
  | 'maxQueueBytes'

/**
 * Returns a reader for integer settings. A setting and its alias may both be set if they are equal.
 */
const numbersOf =
  (options: { readonly [name in NumberName]?: number | undefined }) =>
  (aliases: readonly [NumberName, ...NumberName[]], fallback: number, minimum: number, maximum: number): number => {
    const given = aliases.filter(name => options[name] !== undefined)
    const name = given[0] ?? aliases[0]
    if (given.some(other => !Object.is(options[other], options[name])))
      throw new ConfigError(
        name,
        `'${given.join("' and '")}' are names of the same setting, but have different values: set only one of them.`,
      )
    const value = options[name] ?? fallback
    if (Number.isInteger(value) && value >= minimum && value <= maximum) return value
    throw new ConfigError(name, `'${name}' must be an integer from ${minimum} to ${maximum}.`)
  }

function listener<Name extends 'onFailure' | 'onSent'>(name: Name, value: QueueOptions[Name]) {
  if (value === undefined || typeof value === 'function') return value
  throw new ConfigError(name, `'${name}' must be a function.`)
}

function urlOf(endpoint: unknown): string {
  const reject = (message: string): never => {
    throw new ConfigError('endpoint', message)
  }
  if (typeof endpoint !== 'string' || !URL.canParse(endpoint))
    return reject("'endpoint' must be the collector's URL, such as https://events.example.com.")
  const url = new URL(endpoint)
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    return reject("'endpoint' must begin with http:// or https://.")
  if (url.username !== '' || url.password !== '')
    return reject("'endpoint' must not contain credentials: the write key identifies the client.")
  if (url.pathname === '/') url.pathname = '/v1/batch'
  url.hash = ''
  return url.href
}
