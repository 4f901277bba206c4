import type { Message, RecordMetadata } from 'kafkajs'
import type { OutgoingRecord } from '../../../core/ports.ts'
import { type EpochMs, epochMs } from '../../../core/units.ts'
import { KafkaError } from '../kafkajs/errors.ts'

/**
 * Limits of the batch in one produce request. The time that kafkajs needs is quadratic in the
 * number of records. The bytes stay below one mebibyte, the default of `max.message.bytes`.
 */
export const batchLimits = { records: 1_000, bytes: 900 * 1024 }

/**
 * The maximum size of a record, in bytes. The producer rejects a larger one without a request:
 * hardly any topic accepts it. A request larger than `socket.request.max.bytes` would make the
 * broker close the connection, so the records of other requests would fail, too.
 */
export const maxRecordBytes = 8 * 1024 * 1024

/** The maximum bytes that a record adds to a batch besides its key, value and headers. */
const recordOverheadBytes = 32
const headerOverheadBytes = 10
/**
 * The maximum bytes in UTF-8 of a UTF-16 code unit. The size of a header is estimated with it,
 * because an exact count would take as long as encoding the header.
 */
const characterBytes = 3

/** An upper bound for the size of a record in a batch, in bytes. */
export function recordBytes({ key, value, headers }: OutgoingRecord): number {
  let bytes = recordOverheadBytes + (key?.length ?? 0) + (value?.length ?? 0)
  for (const name in headers)
    bytes += headerOverheadBytes + characterBytes * (name.length + (headers[name]?.length ?? 0))
  return bytes
}

/** The number of queued records to put into the next batch: as many as fit, but at least one. */
export function nextBatchLength(queue: readonly { readonly bytes: number }[]): number {
  let bytes = 0
  for (const [index, record] of queue.entries()) {
    bytes += record.bytes
    if (index === batchLimits.records || (index > 0 && bytes > batchLimits.bytes)) return index
  }
  return queue.length
}

/** The error codes that one invalid record causes for its whole batch. */
const recordErrors: ReadonlySet<string> = new Set([
  'MESSAGE_TOO_LARGE',
  'RECORD_LIST_TOO_LARGE',
  'INVALID_RECORD',
  'INVALID_TIMESTAMP',
])

/**
 * Whether to send a rejected batch again as two halves. Repeated halving isolates the invalid
 * record, so that all others are stored.
 */
export const shouldSplitBatch = (code: string, records: number): boolean => records > 1 && recordErrors.has(code)

/** A message for kafkajs, which passes it to the partitioner before each attempt to send it. */
export interface PartitionedMessage extends Message {
  readonly partition: number
  readonly maySend: OutgoingRecord['maySend'] | undefined
}

/** The error of a record whose `maySend` returns false. */
export const recordWithdrawnError = (retriable: boolean): KafkaError =>
  new KafkaError('the record was withdrawn before it was sent', { code: 'HELD_BACK', retriable })

/** Offset and time of a stored batch. */
export interface StoredBatch {
  /** The offset of the first record. */
  readonly offset: number
  /** The broker's append time; `undefined` when the topic keeps the producer's timestamps. */
  readonly appended?: EpochMs | undefined
}

/**
 * Returns the offset and time of the batch, or an error when the response does not contain its
 * partition. kafkajs resolves without sending the records when it does not know their partition.
 * Without this check they would be lost.
 */
export function storedBatchOf(
  answer: readonly RecordMetadata[],
  topic: string,
  partition: number,
  appended: EpochMs | undefined,
): StoredBatch | KafkaError {
  const stored = answer.find(it => it.topicName === topic && it.partition === partition && it.errorCode === 0)
  if (stored !== undefined) return { offset: Number(stored.baseOffset), appended }
  const line = `no broker acknowledged the records for ${topic}/${partition}`
  return new KafkaError(line, { code: 'UNANSWERED', retriable: true })
}

/**
 * A reading of a broker's clock. The broker appended the batch at some time between `sentAt` and
 * `answeredAt`.
 */
export interface BrokerClockReading {
  /** This process's monotonic clock when the request was sent, in milliseconds. */
  readonly sentAt: number
  /** This process's monotonic clock when the response was received, in milliseconds. */
  readonly answeredAt: number
  /** The broker's append time. */
  readonly appended: EpochMs
}

/**
 * Extracts the append time from a produce response. It is `undefined` when the topic keeps the
 * producer's timestamps (`message.timestamp.type=CreateTime`).
 */
export function brokerClockReading(
  answer: readonly RecordMetadata[],
  sentAt: number,
  answeredAt: number,
): BrokerClockReading | undefined {
  const appended = Number(answer[0]?.logAppendTime ?? -1)
  return appended < 0 ? undefined : { sentAt, answeredAt, appended: epochMs(appended) }
}
