import type { Message, RecordMetadata } from 'kafkajs'
import type { OutgoingRecord } from '../../../core/ports.ts'
import { type EpochMs, epochMs } from '../../../core/units.ts'
import { KafkaError } from '../kafkajs/errors.ts'

/**
 * Limits of one request to one partition. kafkajs needs time quadratic in the number of records;
 * brokers accept a mebibyte by default.
 */
export const batchLimits = { records: 1_000, bytes: 900 * 1024 }

/**
 * A larger record is refused without a request: no topic accepts it, and one larger than
 * `socket.request.max.bytes` makes the broker close the connection for all other records.
 */
export const maxRecordBytes = 8 * 1024 * 1024

/** The maximum that a record adds to a batch besides its key, value and headers. */
const recordOverheadBytes = 32
const headerOverheadBytes = 10
/**
 * Maximum bytes of a character in UTF-8. To count the bytes of each header takes as long as to
 * write them.
 */
const characterBytes = 3

/** The maximum size of a record in a batch, in bytes. */
export function recordBytes({ key, value, headers }: OutgoingRecord): number {
  let bytes = recordOverheadBytes + (key?.length ?? 0) + (value?.length ?? 0)
  for (const name in headers)
    bytes += headerOverheadBytes + characterBytes * (name.length + (headers[name]?.length ?? 0))
  return bytes
}

/** The number of queued records in the next batch: as many as fit, and at least one. */
export function batchLength(queue: readonly { readonly bytes: number }[]): number {
  let bytes = 0
  for (const [index, record] of queue.entries()) {
    bytes += record.bytes
    if (index === batchLimits.records || (index > 0 && bytes > batchLimits.bytes)) return index
  }
  return queue.length
}

/** Errors that a single record of a batch may cause: the other records must not fail with it. */
const recordErrors: ReadonlySet<string> = new Set([
  'MESSAGE_TOO_LARGE',
  'RECORD_LIST_TOO_LARGE',
  'INVALID_RECORD',
  'INVALID_TIMESTAMP',
])

/** Whether to send a refused batch again in two halves. */
export const isWorthHalving = (code: string, records: number): boolean => records > 1 && recordErrors.has(code)

/** A record in the form in which kafkajs passes it to the partitioner before each try. */
export interface PartitionedMessage extends Message {
  readonly partition: number
  readonly maySend: OutgoingRecord['maySend'] | undefined
}

/** The error of a record whose `maySend` no longer allows to send it. */
export const sendWithdrawn = (retriable: boolean): KafkaError =>
  new KafkaError('the record may no longer be sent', { code: 'HELD_BACK', retriable })

/** Where and when a batch is stored. */
export interface Stored {
  /** Of its first record. */
  readonly offset: number
  readonly appended?: EpochMs | undefined
}

/**
 * Where a batch is stored. kafkajs resolves as if it had sent the records when it does not know
 * their partition: without this check they would be lost.
 */
export function storedOf(
  answer: readonly RecordMetadata[],
  topic: string,
  partition: number,
  appended: EpochMs | undefined,
): Stored | KafkaError {
  const stored = answer.find(it => it.topicName === topic && it.partition === partition && it.errorCode === 0)
  if (stored !== undefined) return { offset: Number(stored.baseOffset), appended }
  return new KafkaError(`no broker has answered for ${topic}/${partition}`, { code: 'UNANSWERED', retriable: true })
}

/**
 * A broker's append time, and two readings of this process's monotonic clock, in milliseconds: the
 * append happened between the request was sent and the answer was received.
 */
export interface AppendReading {
  readonly sentAt: number
  readonly answeredAt: number
  readonly appended: EpochMs
}

/**
 * Undefined when the topic keeps the producer's time, which tells nothing about the broker's clock.
 */
export function appendReading(
  answer: readonly RecordMetadata[],
  sentAt: number,
  answeredAt: number,
): AppendReading | undefined {
  const appended = Number(answer[0]?.logAppendTime ?? -1)
  return appended < 0 ? undefined : { sentAt, answeredAt, appended: epochMs(appended) }
}
