import { durationMs } from '../../core/time.ts'

/**
 * Maximum time that a job waits for an unknown or disabled destination. After this time, a resend
 * fails, and a replay refuses the dead letters of the destination. The wait exists because each
 * process applies a configuration change at its own time. So the process that created the job may
 * know the destination before the process that runs the job.
 */
export const maxConfigurationWait = durationMs(10_000)
export const checkAgainAfter = durationMs(500)
