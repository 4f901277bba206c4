import { maxMessageBytes } from '../../../src/core/message/parts.ts'
import { longestTimerMs } from './clock.ts'
import { ConfigError } from './errors.ts'
import type { Failure } from './failure.ts'
import { maxBatchMessages } from './queue.ts'
import type { Transport } from './transport.ts'

/** What becomes of a call when the queue is at its bound. */
export type OnFull = 'error' | 'drop-oldest' | 'wait'

/** How messages wait, and who hears what became of them; times are in milliseconds. */
export interface QueueOptions {
  /** So many queued messages start a flush, and so many go in a request: 1 to 2,500, default 20. */
  readonly size?: number | undefined
  /** Another name of `size`. */
  readonly flushAt?: number | undefined
  /** Since the last flush: default 5,000. */
  readonly flushAfter?: number | undefined
  /** Another name of `flushAfter`. */
  readonly interval?: number | undefined
  /** Default 10. */
  readonly maxRetries?: number | undefined
  /** How long a process that has nothing else to do stays to send what is queued: default 10,000. */
  readonly exitTimeoutMs?: number | undefined
  /** Messages that may wait: default 50,000. */
  readonly maxQueueMessages?: number | undefined
  /** UTF-8 bytes of the messages that may wait: at least 32,768, default 67,108,864. */
  readonly maxQueueBytes?: number | undefined
  /** `error`: the call throws `QueueFull` (default). `drop-oldest`: the oldest fails. `wait`: the call's promise waits for room. */
  readonly onFull?: OnFull | undefined
  /** Messages that will not be delivered. Without it they are logged on stderr. */
  readonly onFailure?: ((failure: Failure) => void) | undefined
  /** Message ids that the endpoint took. */
  readonly onSent?: ((messageIds: readonly string[]) => void) | undefined
}

/** The settings of a client that sends to a collector. */
export interface AnalyticsOptions extends QueueOptions {
  /** Where the collector is: a base URL, to which `/v1/batch` is added, or a full one. Required. */
  readonly endpoint: string
  /** For one request, in milliseconds: default 10,000. */
  readonly timeoutMs?: number | undefined
}

/** The settings of a client with another way out than a collector. */
export interface TransportOptions extends QueueOptions {
  /** `kafkaTransport(…)` of `@hookline/client-kafka`. It belongs to this one client. */
  readonly transport: Transport
}

type Given<Name extends keyof QueueOptions> = NonNullable<QueueOptions[Name]>

/** Options that were checked, under one name each. */
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

/** Checks every setting; throws `ConfigError` for the first that cannot be used. */
export function settingsOf(writeKey: string, options: AnalyticsOptions): Settings {
  if (typeof writeKey !== 'string' || writeKey === '' || writeKey.length > maxWriteKeyLength)
    throw new ConfigError(
      'writeKey',
      "'writeKey' must be the write key of a source: new Analytics(writeKey, { endpoint }).",
    )
  const given: unknown = options
  if (typeof given !== 'object' || given === null)
    throw new ConfigError('endpoint', "'endpoint' is required: new Analytics(writeKey, { endpoint: 'https://…' }).")
  refuseUnknown(options, httpNames)
  return {
    ...queueSettingsOf(options),
    writeKey,
    url: urlOf(options.endpoint),
    timeoutMs: numbersOf(options)(['timeoutMs'], 10_000, 1, longestTimerMs),
  }
}

/** Whether this is the one argument of a client that brings its own transport. */
export const isOverTransport = (given: unknown): given is TransportOptions =>
  typeof given === 'object' && given !== null && 'transport' in given

/** Like `settingsOf`, for a client that brings its own transport. */
export function transportSettingsOf(options: TransportOptions): QueueSettings {
  refuseUnknown(options, transportNames)
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

function refuseUnknown(options: object, ownNames: readonly string[]): void {
  const names = [...ownNames, ...queueNames]
  const unknown = Object.keys(options).find(name => !names.includes(name))
  if (unknown === undefined) return
  const meant = names.find(name => name.toLowerCase() === unknown.toLowerCase())
  const advice = meant === undefined ? `the settings are ${names.join(', ')}` : `did you mean '${meant}'?`
  throw new ConfigError(unknown, `'${unknown}' is no setting: ${advice}`)
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

/** Reads whole numbers; two names of one setting may both be there when they agree (B2.3). */
const numbersOf =
  (options: { readonly [name in NumberName]?: number | undefined }) =>
  (aliases: readonly [NumberName, ...NumberName[]], fallback: number, least: number, most: number): number => {
    const given = aliases.filter(name => options[name] !== undefined)
    const name = given[0] ?? aliases[0]
    if (given.some(other => !Object.is(options[other], options[name])))
      throw new ConfigError(
        name,
        `'${given.join("' and '")}' are two names of one setting and differ: give one of them.`,
      )
    const value = options[name] ?? fallback
    if (Number.isInteger(value) && value >= least && value <= most) return value
    throw new ConfigError(name, `'${name}' must be a whole number from ${least} to ${most}.`)
  }

function listener<Name extends 'onFailure' | 'onSent'>(name: Name, value: QueueOptions[Name]) {
  if (value === undefined || typeof value === 'function') return value
  throw new ConfigError(name, `'${name}' must be a function.`)
}

function urlOf(endpoint: unknown): string {
  const refuse = (message: string): never => {
    throw new ConfigError('endpoint', message)
  }
  if (typeof endpoint !== 'string' || !URL.canParse(endpoint))
    return refuse("'endpoint' must be the collector's URL, such as https://events.example.com.")
  const url = new URL(endpoint)
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    return refuse("'endpoint' must begin with http:// or https://.")
  if (url.username !== '' || url.password !== '')
    return refuse("'endpoint' must not hold credentials: the write key is what the client is known by.")
  if (url.pathname === '/') url.pathname = '/v1/batch'
  url.hash = ''
  return url.href
}
