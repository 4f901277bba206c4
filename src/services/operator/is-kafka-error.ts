/**
 * Whether an error reports a failure of Kafka. Errors of the Kafka adapter have a code and say
 * whether a retry can help. Other errors are bugs.
 */
export const isKafkaError = (error: unknown): error is Error & { readonly code: string } =>
  error instanceof Error && 'retriable' in error && 'code' in error

/** Whether an error reports a failure of Kafka that can end without a change by an operator. */
export const isTemporaryKafkaError = (error: unknown): boolean =>
  isKafkaError(error) && (error as { readonly retriable?: unknown }).retriable === true

/** Whether an error says that a topic does not exist. */
export const isTopicMissing = (error: unknown): boolean =>
  (error as { readonly code?: unknown } | undefined)?.code === 'TOPIC_MISSING'
