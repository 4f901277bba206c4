import { durationMs } from './time.ts'

/**
 * The maximum time from receipt to delivery (`maxDeliveryAge`) with the default retention of the
 * topics.
 */
export const defaultSuppressionRetention = durationMs(53 * 24 * 3_600_000)
