import type { OutgoingRecord } from '../../../core/ports.ts'

/**
 * Limits of the batch in one produce request: kafkajs needs time quadratic in the number of
 * records, and the default of `max.message.bytes` is one mebibyte.
 */
export const batchLimits = { records: 1_000, bytes: 900 * 1024 }

/**
 * Maximum bytes of a record. Few topics accept larger records. If a request exceeded
 * `socket.request.max.bytes`, the broker would close the connection, and all its requests would
 * fail.
 */
export const maxRecordBytes = 8 * 1024 * 1024

/** Maximum bytes that a record in a batch needs in addition to its key, value and headers. */
const recordOverheadBytes = 32
const headerOverheadBytes = 10
/**
 * Maximum UTF-8 bytes of one UTF-16 code unit. To count the exact bytes of a text would take as
 * long as to encode it.
 */
const characterBytes = 3

/** An upper bound for the bytes of a record in a batch. */
export function recordBytes({ key, value, headers }: OutgoingRecord): number {
  let bytes = recordOverheadBytes + (key?.length ?? 0) + (value?.length ?? 0)
  for (const name in headers)
    bytes += headerOverheadBytes + characterBytes * (name.length + (headers[name]?.length ?? 0))
  return bytes
}

/** The number of queued records for the next batch: as many as `batchLimits` allow, at least 1. */
export function nextBatchLength(queue: readonly { readonly bytes: number }[]): number {
  let bytes = 0
  for (const [index, record] of queue.entries()) {
    bytes += record.bytes
    if (index === batchLimits.records || (index > 0 && bytes > batchLimits.bytes)) return index
  }
  return queue.length
}

/** Error codes with which a broker rejects a whole batch because of one invalid record. */
const recordErrors: ReadonlySet<string> = new Set([
  'MESSAGE_TOO_LARGE',
  'RECORD_LIST_TOO_LARGE',
  'INVALID_RECORD',
  'INVALID_TIMESTAMP',
])

/**
 * Whether to send a rejected batch again as two halves. Repeated halving isolates the invalid
 * record.
 */
export const shouldSplitBatch = (code: string, records: number): boolean => records > 1 && recordErrors.has(code)
