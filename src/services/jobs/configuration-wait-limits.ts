import { durationMs } from '../../core/time.ts'

/**
 * Maximum time that a job waits for an unknown or disabled destination. Processes apply
 * configuration changes at different times, so another process may know the destination earlier.
 */
export const maxConfigurationWait = durationMs(10_000)
export const checkAgainAfter = durationMs(500)
