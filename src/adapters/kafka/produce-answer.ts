import type { Message, RecordMetadata } from 'kafkajs'
import type { OutgoingRecord } from '../../core/ports.ts'
import type { EpochMs } from '../../core/units.ts'
import { KafkaError } from './errors.ts'

/** A record as kafkajs gets it, which hands it to the partitioner before each try. */
export interface Sending extends Message {
  readonly partition: number
  readonly maySend: OutgoingRecord['maySend'] | undefined
}

/** A record that may not be sent any more. */
export const heldBack = (retriable: boolean): KafkaError =>
  new KafkaError('it may not be sent any more', { code: 'HELD_BACK', retriable })

/** Where and when a batch is stored. */
export interface Stored {
  /** Of its first record. */
  readonly offset: number
  readonly appended?: EpochMs | undefined
}

/** kafkajs resolves as if it had sent records for a partition that it does not know. */
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
