import type { LogRecord } from '../ports.ts'

/**
 * Header with the ids of the destinations whose delivery of an event has ended, separated by
 * commas. It prevents repeated deliveries of an event that is read again after a crash while its
 * source is unknown. The copy of the event in a retry topic or the dead-letter topic has the
 * header.
 */
const doneForHeader = 'done-for'

export const doneForIn = ({ headers }: Pick<LogRecord, 'headers'>): readonly string[] =>
  headers[doneForHeader]?.split(',') ?? none

export function withDoneFor(record: LogRecord, destinations: readonly string[]): LogRecord {
  if (destinations.length === 0) return record
  return { ...record, headers: { ...record.headers, [doneForHeader]: destinations.join(',') } }
}

const none: readonly never[] = []
