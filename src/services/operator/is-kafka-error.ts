/**
 * Whether an error reports a failure of Kafka. Only errors of the Kafka adapter have both fields.
 */
export const isKafkaError = (error: unknown): error is Error & { readonly code: string } =>
  error instanceof Error && 'retriable' in error && 'code' in error

/** Whether an error reports a failure of Kafka that can end without a change by an operator. */
export const isTemporaryKafkaError = (error: unknown): boolean =>
  isKafkaError(error) && (error as { readonly retriable?: unknown }).retriable === true

export const isTopicMissing = (error: unknown): boolean =>
  (error as { readonly code?: unknown } | undefined)?.code === 'TOPIC_MISSING'
