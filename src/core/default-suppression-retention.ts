import { durationMs } from './time.ts'

/**
 * How long a suppression is kept by default: the maximum time from the receipt of an event to its
 * delivery (`maxDeliveryAge`), if the topics have their default retention.
 */
export const defaultSuppressionRetention = durationMs(53 * 24 * 3_600_000)
