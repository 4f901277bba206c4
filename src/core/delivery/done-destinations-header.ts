import type { LogRecord } from '../ports.ts'

/**
 * Header of an event's retry record or dead letter: the ids of destinations that must not get the
 * event again, because their deliveries have already ended.
 */
const doneForHeader = 'done-for'

export const doneForIn = ({ headers }: Pick<LogRecord, 'headers'>): readonly string[] =>
  headers[doneForHeader]?.split(',') ?? none

export function withDoneFor(record: LogRecord, destinations: readonly string[]): LogRecord {
  if (destinations.length === 0) return record
  return { ...record, headers: { ...record.headers, [doneForHeader]: destinations.join(',') } }
}

const none: readonly never[] = []
