import type { RecordMetadata } from 'kafkajs'
import { type EpochMs, epochMs } from '../../../core/time.ts'
import { KafkaError } from '../kafkajs/errors.ts'

/** Offset and time of a stored batch. */
export interface StoredBatch {
  /** The offset of the first record. */
  readonly offset: number
  /** The broker's append time; `undefined` when the topic keeps the producer's timestamps. */
  readonly appended?: EpochMs | undefined
}

/**
 * Returns the offset and time of the batch, or an error when the response does not contain its
 * partition. kafkajs reports success without sending the records when it does not know their
 * partition. Without this check, these records would be lost.
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
 * A reading of a broker's clock, from the response to a produce request. The broker appended the
 * batch of this request at some time between `sentAt` and `answeredAt`.
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
 * Reads the broker's clock from a produce response. Returns `undefined` when the topic keeps the
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
