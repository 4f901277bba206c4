import type { DestinationStatus } from '../../api/response-types.ts'

export interface NoFailuresText {
  readonly title: string
  readonly reason: string
}

/** Explains why no failed attempts are shown; `undefined` if there are some. */
export function noFailuresText({
  lastFailures,
  partial,
}: Pick<DestinationStatus, 'lastFailures' | 'partial'>): NoFailuresText | undefined {
  if (lastFailures !== undefined)
    return lastFailures.length > 0
      ? undefined
      : { title: 'Hookline found no records of failed attempts.', reason: 'Kafka keeps these records for 7 days.' }
  if (partial === true)
    return {
      title: 'The list of failed attempts is not available.',
      reason:
        'The operator service could not read failed attempts from Kafka in time, or Hookline does not record them (delivery.attemptsTopic is "off").',
    }
  return {
    title: 'The recording of failed attempts is off.',
    reason:
      'delivery.attemptsTopic is "off" in the configuration. To record failed attempts, set delivery.attemptsTopic to "failures", run `hookline topics apply`, and restart Hookline.',
  }
}
