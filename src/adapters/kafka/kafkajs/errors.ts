/** A failed request to Kafka. */
export class KafkaError extends Error {
  /**
   * The code of Kafka (`MESSAGE_TOO_LARGE`), Node (`ECONNREFUSED`), kafkajs (`REQUEST_TIMEOUT`) or
   * Hookline (`TOPIC_MISSING`, `CLOSED`, …).
   */
  readonly code: string
  /** Whether the same request may succeed later without any action of an operator. */
  readonly retriable: boolean

  constructor(message: string, options: { code: string; retriable: boolean; cause?: unknown }) {
    super(message, { cause: options.cause })
    this.name = 'KafkaError'
    this.code = options.code
    this.retriable = options.retriable
  }
}

/** The error `TOPIC_MISSING`. An operator must create the topic. */
export function topicMissing(topic: string, cause?: unknown): KafkaError {
  return new KafkaError(`topic ${topic} does not exist`, { code: 'TOPIC_MISSING', retriable: false, cause })
}

export function consumerStopped(groupId: string): KafkaError {
  return new KafkaError(`consumer of group ${groupId} is stopped`, { code: 'CLOSED', retriable: false })
}

/** Creates the error that a broker would return for a record that is too large. */
export function recordTooLarge(topic: string, bytes: number, maxBytes: number): KafkaError {
  const line = `Hookline did not write the record for topic ${topic}, because its estimated size of ${bytes} bytes is more than the maximum of ${maxBytes} bytes`
  return new KafkaError(line, { code: 'MESSAGE_TOO_LARGE', retriable: false })
}

/**
 * Creates an error that makes kafkajs join the group again. After a fetch or a heartbeat, kafkajs
 * checks `type`; after a join, it checks `retriable`.
 */
export function rejoinError(): Error {
  return Object.assign(new Error('the consumer must rejoin its group'), {
    type: 'REBALANCE_IN_PROGRESS',
    retriable: true,
  })
}

/** The fields of kafkajs's errors that this file reads. */
interface KafkajsError {
  readonly name?: string
  readonly message?: string
  readonly type?: string
  readonly code?: string | number
  readonly retriable?: boolean
  readonly cause?: unknown
  readonly errors?: readonly unknown[]
}

/**
 * Converts an error of kafkajs; a KafkaError is returned unchanged.
 * @param doing what failed, as the beginning of the message: `cannot read topic x`
 */
export function toKafkaError(doing: string, thrown: unknown): KafkaError {
  if (thrown instanceof KafkaError) return thrown
  const root = rootOf(thrown)
  return new KafkaError(`${doing}: ${root.message ?? String(thrown)}`, {
    code: codeOf(root),
    retriable: root.retriable === true || isBrokerUnavailable(root),
    cause: thrown,
  })
}

/** The code of a thrown error, for example Kafka's `UNKNOWN_TOPIC_OR_PARTITION`. */
export function errorCodeOf(thrown: unknown): string {
  return thrown instanceof KafkaError ? thrown.code : codeOf(rootOf(thrown))
}

/** The error codes of brokers that do not know a new topic yet. */
export const propagationErrors: ReadonlySet<string> = new Set(['UNKNOWN_TOPIC_OR_PARTITION', 'LEADER_NOT_AVAILABLE'])

/** The error codes of a partition whose leader has just changed, or is being elected. */
export const leaderErrors: ReadonlySet<string> = new Set(['LEADER_NOT_AVAILABLE', 'NOT_LEADER_FOR_PARTITION'])

/** The error codes of a group whose coordinator has just started, or is being replaced. */
export const coordinatorErrors: ReadonlySet<string> = new Set([
  'NOT_COORDINATOR_FOR_GROUP',
  'GROUP_COORDINATOR_NOT_AVAILABLE',
  'GROUP_LOAD_IN_PROGRESS',
])

/** The names and types of errors during a broker failover. */
const brokerUnavailableErrors: ReadonlySet<string> = new Set([
  'KafkaJSConnectionError',
  'KafkaJSConnectionClosedError',
  'KafkaJSRequestTimeoutError',
  'KafkaJSBrokerNotFound',
  'KafkaJSGroupCoordinatorNotFound',
  // The request waited too long for a lock of kafkajs, while another request connected to the same
  // broker or added a topic.
  'KafkaJSLockTimeout',
  // A disk of the leader has failed, so another broker becomes the leader.
  'KAFKA_STORAGE_ERROR',
  ...leaderErrors,
  ...coordinatorErrors,
])

/** Whether a broker was unavailable for a request. A retry with fresh metadata may succeed. */
export function isBrokerUnavailable(thrown: unknown): boolean {
  const { type, name = '' } = rootOf(thrown)
  return brokerUnavailableErrors.has(type ?? name)
}

/** Finds the original error. kafkajs wraps it in errors of its retries, and in lists of errors. */
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
