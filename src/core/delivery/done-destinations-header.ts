import type { LogRecord } from '../ports.ts'

/**
 * Header with the ids of the destinations that are done with an event, separated by commas. When a
 * process reads an event again, some destinations may be done with the event, but the event may
 * have no route, because its source is now unknown. The copies of the event then have the header:
 * the retry record, the dead letter, and the record that a replay of this dead letter writes. When
 * the source is known again, the copy is routed. Without the header, the event would then be
 * delivered to these destinations again.
 *
 * A retry record for one destination may have the header too. The header then has no effect,
 * because this record is delivered only to that destination.
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
