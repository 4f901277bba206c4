import { durationMs } from '../../core/time.ts'

/**
 * Maximum time that a job waits for an unknown or disabled destination before it fails, or before a
 * replay refuses dead letters. Each process applies a configuration change at its own time. So the
 * process that created the job may know the destination before the process that runs it.
 */
export const maxConfigurationWait = durationMs(10_000)
export const checkAgainAfter = durationMs(500)
