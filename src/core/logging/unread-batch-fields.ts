import { toIsoTimestamp } from '../message/timestamp.ts'
import type { LogRecord, UnreadBatch } from '../ports.ts'

/** The fields of a log line about a batch that cannot be read, without the data of the batch. */
export const unreadBatchFields = (
  { topic, partition, offset, timestamp }: LogRecord,
  { firstOffset, why }: UnreadBatch,
) => ({ topic, partition, firstOffset, offset, writtenAt: toIsoTimestamp(timestamp), detail: why })
