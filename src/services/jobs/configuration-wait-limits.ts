import { durationMs } from '../../core/time.ts'

/**
 * Maximum time that a job waits if a destination is unknown or disabled: this process may not have
 * applied the newest configuration change yet.
 */
export const maxConfigurationWait = durationMs(10_000)
export const checkAgainAfter = durationMs(500)
