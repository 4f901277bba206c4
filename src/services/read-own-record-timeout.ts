import { durationMs } from '../core/time.ts'

/**
 * Maximum time for which a process waits until it reads its own new record back from a topic. This
 * usually takes less than a second.
 */
export const readBackLimit = durationMs(10_000)

/** The error text after `readBackLimit`. */
export const notReadBack = (topic: string): string =>
  `${topic}: Hookline did not read its new record back within ${readBackLimit / 1_000} s, so the record may or may not be stored; check Kafka, then check whether the change is in force`
