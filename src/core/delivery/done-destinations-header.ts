import type { LogRecord } from '../ports.ts'

/**
 * Header with the ids of the destinations that are done with an event, separated by commas. An
 * event that is read again can be done at some destinations, but have no route because its source
 * is now unknown. Its copies then have the header: the retry record, the dead letter, and the
 * record that a replay of this dead letter writes. Without the header, the routing of the copy
 * would deliver the event to these destinations again.
 *
 * A retry record for one destination may have the header too, without effect: it is not routed.
 */
const doneForHeader = 'done-for'

/** The destinations in the header `done-for` of a record; empty when it has no header. */
export const doneForIn = ({ headers }: Pick<LogRecord, 'headers'>): readonly string[] =>
  headers[doneForHeader]?.split(',') ?? none

/** Returns the record with the header `done-for`, or unchanged when no destination is done. */
export function withDoneFor(record: LogRecord, destinations: readonly string[]): LogRecord {
  if (destinations.length === 0) return record
  return { ...record, headers: { ...record.headers, [doneForHeader]: destinations.join(',') } }
}

const none: readonly never[] = []
