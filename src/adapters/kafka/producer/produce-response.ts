import type { RecordMetadata } from 'kafkajs'
import type { EpochMs } from '../../../core/time.ts'
import { KafkaError } from '../kafkajs/errors.ts'

export interface StoredBatch {
  /** Offset of the first record. */
  readonly offset: number
  /** The broker's append time; `undefined` when the topic keeps the producer's timestamps. */
  readonly appendedAt?: EpochMs | undefined
}

/**
 * Returns the stored batch, or an error when the response lacks the partition: if kafkajs does not
 * know a partition, it sends no records, but reports success.
 */
export function storedBatchOf(
  answer: readonly RecordMetadata[],
  topic: string,
  partition: number,
  appendedAt: EpochMs | undefined,
): StoredBatch | KafkaError {
  const stored = answer.find(it => it.topicName === topic && it.partition === partition && it.errorCode === 0)
  if (stored !== undefined) return { offset: Number(stored.baseOffset), appendedAt }
  const line = `no broker acknowledged the records for ${topic}/${partition}`
  return new KafkaError(line, { code: 'UNANSWERED', retriable: true })
}
