import type { LogRecord } from '../ports.ts'

/**
 * Header with the ids of the destinations whose delivery of an event has ended, separated by
 * commas. It is needed in this case: a process reads an event again, because the offset of the
 * event was not committed before a crash, and the source of the event is now unknown. The event
 * then has no route, and the process writes a copy of it: a retry record or a dead letter. The copy
 * has the header, and so has the record that a replay of the dead letter writes. When the source is
 * known again, the copy is routed. Without the header, the event would then be delivered again to
 * the destinations whose delivery has ended.
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
