import type { LogRecord, OutgoingRecord } from '../../core/ports.ts'
import type { TopicNames } from '../../core/topics.ts'
import { type AppendDeps, createAppends } from '../partitions/append-until-stored.ts'
import type { PartitionProcessor } from '../partitions/partition-processor.ts'
import { createWriteDeadLetter, type WhyDeadLettered } from '../partitions/write-dead-letter.ts'

interface Deps extends AppendDeps {
  /** Called when Kafka has stored a record. */
  readonly onStored: (topic: string, record: OutgoingRecord, offset: number) => void
  readonly topics: Pick<TopicNames, 'deadLetter'>
}

/**
 * Writes the records that result from inputs, and dead letters for inputs that cannot be decoded.
 */
export interface AudienceWrites {
  /**
   * Appends a record, and retries until all in-sync replicas have it. Resolves with false when the
   * partition is revoked.
   */
  append(topic: string, record: OutgoingRecord, processor: PartitionProcessor): Promise<boolean>
  /** Like `append`, for a dead letter. A dead letter that is too large is truncated. */
  deadLetter(record: LogRecord, why: WhyDeadLettered, processor: PartitionProcessor): Promise<boolean>
  /** Topics with a failed append that is being retried. */
  unwritableTopics(): readonly string[]
}

/**
 * Creates the `AudienceWrites`. Each append waits until the consumer group confirms that this
 * process owns the partition, because a former owner must not write state.
 */
export function createAudienceWrites({ onStored, producer, ...deps }: Deps): AudienceWrites {
  const observed: AppendDeps['producer'] = {
    append: (topic, record, onAck) =>
      producer.append(topic, record, (error, offset) => {
        if (error === undefined && offset !== undefined) onStored(topic, record, offset)
        onAck(error, offset)
      }),
    flush: () => producer.flush(),
    stop: () => producer.stop(),
  }
  const { append, unwritableTopics } = createAppends({ ...deps, producer: observed })
  const writeDeadLetter = createWriteDeadLetter({ ...deps, append })
  return {
    append: (topic, record, processor) => new Promise(resolve => append(topic, record, processor, resolve)),
    deadLetter: (record, why, processor) => new Promise(resolve => writeDeadLetter(record, why, processor, resolve)),
    unwritableTopics,
  }
}
