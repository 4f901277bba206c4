/** A failed request to Kafka. */
export class KafkaError extends Error {
  /**
   * Kafka's name (`MESSAGE_TOO_LARGE`), Node's (`ECONNREFUSED`), kafkajs's (`REQUEST_TIMEOUT`) or
   * Hookline's (`TOPIC_MISSING`, `CLOSED`, …).
   */
  readonly code: string
  /** Whether the same request may succeed later without any change by an operator. */
  readonly retriable: boolean

  constructor(message: string, options: { code: string; retriable: boolean; cause?: unknown }) {
    super(message, { cause: options.cause })
    this.name = 'KafkaError'
    this.code = options.code
    this.retriable = options.retriable
  }
}

/** Code `TOPIC_MISSING`; not retriable: an operator must create the topic. */
export function topicMissing(topic: string, cause?: unknown): KafkaError {
  return new KafkaError(`topic ${topic} does not exist`, { code: 'TOPIC_MISSING', retriable: false, cause })
}

/** Kafka's own code, without a request to a broker. */
export function recordTooLarge(topic: string, bytes: number, maxBytes: number): KafkaError {
  const line = `a record of ${bytes} bytes for ${topic} is over ${maxBytes}`
  return new KafkaError(line, { code: 'MESSAGE_TOO_LARGE', retriable: false })
}

/** An error that makes kafkajs join the group again: by its type, and by `retriable`. */
export function rejoinNeeded(): Error {
  return Object.assign(new Error('the group must be joined again'), {
    type: 'REBALANCE_IN_PROGRESS',
    retriable: true,
  })
}

/** The fields of kafkajs's errors that are used here. */
interface KafkajsError {
  readonly name?: string
  readonly message?: string
  readonly type?: string
  readonly code?: string | number
  readonly retriable?: boolean
  readonly cause?: unknown
  readonly errors?: readonly unknown[]
}

/** Converts an error thrown by kafkajs; `doing` says what failed. A KafkaError passes through. */
export function kafkaError(doing: string, thrown: unknown): KafkaError {
  if (thrown instanceof KafkaError) return thrown
  const root = rootOf(thrown)
  return new KafkaError(`${doing}: ${root.message ?? String(thrown)}`, {
    code: codeOf(root),
    retriable: root.retriable === true,
    cause: thrown,
  })
}

/** The code of a thrown error, for example Kafka's `UNKNOWN_TOPIC_OR_PARTITION`. */
export function codeOfThrown(thrown: unknown): string {
  return thrown instanceof KafkaError ? thrown.code : codeOf(rootOf(thrown))
}

/**
 * No answer, or an answer from the wrong broker: brokers die, restart, and take over from each
 * other.
 */
const outOfReach: ReadonlySet<string> = new Set([
  'KafkaJSConnectionError',
  'KafkaJSConnectionClosedError',
  'KafkaJSRequestTimeoutError',
  'KafkaJSBrokerNotFound',
  'KafkaJSGroupCoordinatorNotFound',
  // Another request is still connecting to the broker.
  'KafkaJSLockTimeout',
  'NOT_COORDINATOR_FOR_GROUP',
  'GROUP_COORDINATOR_NOT_AVAILABLE',
  'GROUP_LOAD_IN_PROGRESS',
])

/**
 * Whether no broker was able to answer the request: then the error says nothing about its subject.
 */
export function isOutOfReach(thrown: unknown): boolean {
  const { type, name = '' } = rootOf(thrown)
  return outOfReach.has(type ?? name)
}

/** Unwraps kafkajs's errors: it wraps the cause in the error of its retries, and in lists. */
function rootOf(thrown: unknown): KafkajsError {
  const error = (thrown ?? {}) as KafkajsError
  const inner = error.errors?.[0] ?? error.cause
  return inner === undefined || inner === null || inner === thrown ? error : rootOf(inner)
}

function codeOf({ type, code, name = 'Error' }: KafkajsError): string {
  if (type !== undefined) return type
  if (typeof code === 'string') return code
  const bare = name.replace(/^KafkaJS/, '').replace(/(?<=.)Error$/, '')
  return bare.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase()
}
