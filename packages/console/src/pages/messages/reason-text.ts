import type { MessageDestination } from '../../api/types.ts'

const unknownCauses: Readonly<Record<string, string>> = {
  search_incomplete: 'The search did not read far enough back.',
  offsets_unknown: 'Kafka did not report the committed offsets.',
  attempts_not_recorded: 'The installation records no attempts (delivery.attemptsTopic is off).',
  attempts_removed: 'Retention may have removed the records of its attempts.',
  record_missing: 'The last record announces a result that was not found.',
}

/** Why a delivery is in its state, and whether a record says so. `undefined` when there is nothing to add. */
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
