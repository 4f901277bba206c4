import { durationMs } from './time.ts'

/**
 * How long a suppression is kept by default: 53 days, which is `maxDeliveryAge` with the default
 * retention of the topics.
 */
export const defaultSuppressionRetention = durationMs(53 * 24 * 3_600_000)
