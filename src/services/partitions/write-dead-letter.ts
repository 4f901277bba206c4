import { deadLetterRecord, truncatedDeadLetter } from '../../core/delivery/dead-letter-record.ts'
import type { DeliveryState } from '../../core/delivery/delivery-state.ts'
import type { DeadLetterReason } from '../../core/delivery/outcomes-reasons-and-classification.ts'
import type { RejectionCode } from '../../core/message/message-rejection.ts'
import type { Metrics } from '../../core/metrics/metrics.ts'
import type { Logger, LogRecord } from '../../core/ports.ts'
import type { TopicNames } from '../../core/topics.ts'
import type { Appends } from './append-until-stored.ts'
import type { PartitionProcessor } from './partition-processor.ts'

interface Deps extends Pick<Appends, 'append'> {
  readonly topics: Pick<TopicNames, 'deadLetter'>
  readonly metrics: Metrics
  readonly logger: Logger
}

export interface WhyDeadLettered {
  readonly reason: DeadLetterReason
  /** Set when the reason is `invalid_message`. */
  readonly code?: RejectionCode | undefined
  readonly carried?: Partial<DeliveryState> | undefined
}

/**
 * Appends a dead letter. Calls `end` with true when the dead letter is stored, and with false after
 * a revocation.
 */
export type WriteDeadLetter = (
  record: LogRecord,
  why: WhyDeadLettered,
  of: PartitionProcessor,
  end: (written: boolean) => void,
) => void

/**
 * Creates a function that writes dead letters. If a record is too large, or its batch cannot be
 * read, the dead letter has only the first 64 KiB of the record.
 */
export function createWriteDeadLetter({ append, topics, metrics, logger }: Deps): WriteDeadLetter {
  return (record, { carried, reason, code }, of, end) => {
    const endTruncated = (written: boolean): void => {
      if (written) metrics.truncatedDeadLetters.inc({ reason })
      end(written)
    }
    const truncate = (error?: Error): void => {
      const { topic, partition, offset, value, unreadBatch } = record
      logger.warn(
        {
          ...{ topic, partition, offset, reason, bytes: unreadBatch?.length ?? value?.length ?? 0 },
          ...(error !== undefined && { error: error.message }),
        },
        'a dead letter is truncated to 64 KiB and cannot be replayed, because the record is too large or its Kafka batch cannot be read: if you need the whole record, read it from its topic (see "topic", "partition" and "offset") before Kafka deletes it',
      )
      append(topics.deadLetter, truncatedDeadLetter(record, carried, reason, code), of, endTruncated)
    }
    if (record.unreadBatch !== undefined) truncate()
    else append(topics.deadLetter, deadLetterRecord(record, carried, reason, code), of, end, truncate)
  }
}
