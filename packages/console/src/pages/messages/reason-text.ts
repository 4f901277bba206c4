import type { MessageDestination } from '../../api/types.ts'

const unknownCauses: Readonly<Record<string, string>> = {
  search_incomplete:
    'The search stopped at its limit before it found how this delivery ended: run `hookline message` with --since and --until.',
  offsets_unknown:
    'It is unknown whether Hookline has processed the event, because Kafka did not report the progress: reload the page.',
  attempts_not_recorded:
    'It is unknown how this delivery ended, because Hookline records no attempts (delivery.attemptsTopic is "off").',
  attempts_removed: 'Kafka may have deleted the records of the attempts, because their retention time has passed.',
  record_missing:
    'The search found no record that shows how this delivery ended. Perhaps an attempt was not recorded, or the delivery was dead-lettered and its dead letter was replayed or deleted.',
}

/**
 * The reason for the state of a delivery, and whether the state is inferred, in words. `undefined`
 * when there is nothing to add.
 */
export function reasonText({ state, reason, inferred }: Omit<MessageDestination, 'attempts'>): string | undefined {
  if (state === 'unknown' && reason !== undefined) return unknownCauses[reason] ?? `Reason: ${reason}.`
  const parts = [
    ...(reason === undefined ? [] : [`Reason: ${reason}.`]),
    ...(inferred === true
      ? [
          'Kafka has no record of this state. Hookline concluded it because it has processed the event and recorded no failure, or because the current configuration drops the event.',
        ]
      : []),
  ]
  return parts.length === 0 ? undefined : parts.join(' ')
}
