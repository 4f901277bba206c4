import type { MessageDestination } from '../../api/response-types.ts'

const unknownCauses: Readonly<Record<string, string>> = {
  search_incomplete:
    'It is unknown how this delivery ended, because the search is incomplete. Search in a short time span around the message with: hookline message ID --since TIME --until TIME',
  offsets_unknown:
    'It is unknown whether Hookline has processed the event, because Kafka did not report the progress: reload the page.',
  attempts_not_recorded:
    'It is unknown how this delivery ended, because Hookline records no attempts (delivery.attemptsTopic is "off").',
  attempts_removed:
    'It is unknown how this delivery ended, because the message is older than the retention time of the attempt records in Kafka.',
  record_missing:
    'The search found no record that shows how this delivery ended. Possible causes: Hookline did not record an attempt; or it dead-lettered the delivery, and the dead letter was later replayed or deleted.',
}

/**
 * The reason for the state of a delivery, and a note if the state is only assumed. `undefined` if
 * the delivery has neither a reason nor an assumed state.
 */
export function reasonText({ state, reason, inferred }: Omit<MessageDestination, 'attempts'>): string | undefined {
  if (state === 'unknown' && reason !== undefined) return unknownCauses[reason] ?? `Reason: ${reason}.`
  const cause =
    state === 'dropped'
      ? 'the current configuration drops the event'
      : 'Hookline processed the event and recorded no failure'
  const parts = [
    ...(reason === undefined ? [] : [`Reason: ${reason}.`]),
    ...(inferred === true ? [`No record in Kafka confirms this state. Hookline assumes it, because ${cause}.`] : []),
  ]
  return parts.length === 0 ? undefined : parts.join(' ')
}
