import type { MessageDestination } from '../../api/types.ts'

const unknownCauses: Readonly<Record<string, string>> = {
  search_incomplete: 'The search ended at its limit of records or time before it had read all records of this message.',
  offsets_unknown:
    'Kafka did not report the committed offsets, so Hookline does not know whether it has processed the event.',
  attempts_not_recorded: 'The installation records no attempts (delivery.attemptsTopic is "off").',
  attempts_removed: 'Kafka may have deleted the records of the attempts, because their retention is over.',
  record_missing:
    'There should be a further record of this delivery (an attempt, a retry or a dead letter), but the search did not find it.',
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
      ? ['No record contains this state. Hookline inferred it from offsets or from the configuration.']
      : []),
  ]
  return parts.length === 0 ? undefined : parts.join(' ')
}
