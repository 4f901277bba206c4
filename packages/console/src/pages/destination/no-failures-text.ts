import type { DestinationStatus } from '../../api/types.ts'

export interface NoFailuresText {
  readonly title: string
  readonly reason: string
}

/**
 * Explains why the page shows no failed attempts. Returns `undefined` if there are failed attempts
 * to show.
 */
export function noFailuresText({
  lastFailures,
  partial,
}: Pick<DestinationStatus, 'lastFailures' | 'partial'>): NoFailuresText | undefined {
  if (lastFailures !== undefined)
    return lastFailures.length > 0
      ? undefined
      : { title: 'There are no records of failed attempts.', reason: 'Kafka keeps these records for 7 days.' }
  if (partial === true)
    return {
      title: 'The operator service does not report failed attempts.',
      reason:
        'It could not read the records of failed attempts from Kafka in time, or Hookline does not record failed attempts (delivery.attemptsTopic is "off").',
    }
  return {
    title: 'Hookline does not record failed attempts.',
    reason:
      'delivery.attemptsTopic is "off" in the configuration. To record failed attempts, set delivery.attemptsTopic to "failures", run `hookline topics apply`, and restart Hookline.',
  }
}
