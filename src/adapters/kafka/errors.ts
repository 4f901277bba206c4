/** Something with Kafka did not work. */
export class KafkaError extends Error {
  /** Kafka's name (`MESSAGE_TOO_LARGE`), Node's (`ECONNREFUSED`), kafkajs's (`REQUEST_TIMEOUT`) or ours (`TOPIC_MISSING`, `CLOSED`, …). */
  readonly code: string
  /** Whether the same may succeed later, without anybody changing anything. */
  readonly retriable: boolean

  constructor(message: string, options: { code: string; retriable: boolean; cause?: unknown }) {
    super(message, { cause: options.cause })
    this.name = 'KafkaError'
    this.code = options.code
    this.retriable = options.retriable
  }
}

/** Code `TOPIC_MISSING`; not retriable: somebody has to create the topic. */
export function topicMissing(topic: string, cause?: unknown): KafkaError {
  return new KafkaError(`topic ${topic} does not exist`, { code: 'TOPIC_MISSING', retriable: false, cause })
}

/** Kafka's own code for it, without having asked a broker. */
export function recordTooLarge(topic: string, bytes: number, most: number): KafkaError {
  const line = `a record of ${bytes} bytes for ${topic} is over ${most}`
  return new KafkaError(line, { code: 'MESSAGE_TOO_LARGE', retriable: false })
}

/** By its type kafkajs knows that it has to join again, by the flag that it may try. */
export function rejoinNeeded(): Error {
  return Object.assign(new Error('the group has to be joined again'), {
    type: 'REBALANCE_IN_PROGRESS',
    retriable: true,
  })
}

/** The parts of kafkajs's errors that say something. */
interface KafkajsError {
  readonly name?: string
  readonly message?: string
  readonly type?: string
  readonly code?: string | number
  readonly retriable?: boolean
  readonly cause?: unknown
  readonly errors?: readonly unknown[]
}

/** Makes our error of any that kafkajs throws; `doing` says what was tried. Ours pass through. */
export function kafkaError(doing: string, thrown: unknown): KafkaError {
  if (thrown instanceof KafkaError) return thrown
  const root = rootOf(thrown)
  return new KafkaError(`${doing}: ${root.message ?? String(thrown)}`, {
    code: codeOf(root),
    retriable: root.retriable === true,
    cause: thrown,
  })
}

/** Kafka's own name of what a thrown error is about, `UNKNOWN_TOPIC_OR_PARTITION` for example. */
export function codeOfThrown(thrown: unknown): string {
  return thrown instanceof KafkaError ? thrown.code : codeOf(rootOf(thrown))
}

/** No answer, or none from who should have given it: brokers die, come back, and take over from each other. */
const outOfReach: ReadonlySet<string> = new Set([
  ...['KafkaJSConnectionError', 'KafkaJSConnectionClosedError', 'KafkaJSRequestTimeoutError'],
  ...['KafkaJSBrokerNotFound', 'KafkaJSGroupCoordinatorNotFound'],
  // Somebody else is connecting to it, without end.
  'KafkaJSLockTimeout',
  ...['NOT_COORDINATOR_FOR_GROUP', 'GROUP_COORDINATOR_NOT_AVAILABLE', 'GROUP_LOAD_IN_PROGRESS'],
])

/** Whether a request has met no broker that can answer it: then it says nothing about what was asked. */
export function isOutOfReach(thrown: unknown): boolean {
  const { type, name = '' } = rootOf(thrown)
  return outOfReach.has(type ?? name)
}

/** kafkajs wraps what happened: in the error of its retries (which calls itself not retriable), and in lists. */
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
