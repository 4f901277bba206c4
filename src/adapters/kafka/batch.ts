import type { OutgoingRecord } from '../../core/ports.ts'

/** What one request to one partition holds at most. kafkajs needs time quadratic in the records, brokers take a mebibyte by default. */
export const batchLimits = { records: 1_000, bytes: 900 * 1024 }

/**
 * A record that is longer is refused without asking a broker: no topic of ours takes it, and one that
 * is longer than `socket.request.max.bytes` makes the broker close the connection for all others.
 */
export const maxRecordBytes = 8 * 1024 * 1024

/** The largest that a record adds to a batch besides its key, value and headers. */
const recordOverheadBytes = 32
const headerOverheadBytes = 10
/** What a character takes in UTF-8 at most. To count the bytes of each header takes as long as to write them. */
const characterBytes = 3

/** What a record takes in a batch, in bytes, at most. */
export function recordBytes({ key, value, headers }: OutgoingRecord): number {
  let bytes = recordOverheadBytes + (key?.length ?? 0) + (value?.length ?? 0)
  for (const name in headers)
    bytes += headerOverheadBytes + characterBytes * (name.length + (headers[name]?.length ?? 0))
  return bytes
}

/** How many of the first records of a queue make the next batch: as many as fit, and at least one. */
export function batchLength(queue: readonly { readonly bytes: number }[]): number {
  let bytes = 0
  for (const [index, record] of queue.entries()) {
    bytes += record.bytes
    if (index === batchLimits.records || (index > 0 && bytes > batchLimits.bytes)) return index
  }
  return queue.length
}

/** Errors of which a single record of a batch may be the cause: then the others must not share its fate. */
const recordFaults: ReadonlySet<string> = new Set([
  'MESSAGE_TOO_LARGE',
  'RECORD_LIST_TOO_LARGE',
  'INVALID_RECORD',
  'INVALID_TIMESTAMP',
])

/** Whether a refused batch is to be tried again in two halves. */
export const isWorthHalving = (code: string, records: number): boolean => records > 1 && recordFaults.has(code)
