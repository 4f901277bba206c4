import { durationMs } from './time.ts'

/**
 * With the default retention of the topics, this is the maximum time between the receipt of a
 * message and its delivery (`maxDeliveryAge`).
 */
export const defaultSuppressionRetention = durationMs(53 * 24 * 3_600_000)
