import type { RecordMetadata } from 'kafkajs'
import { type EpochMs, epochMs } from '../../../core/time.ts'

/**
 * A reading of a broker's clock: at some time between `sentAt` and `answeredAt`, the broker
 * appended the batch of a request.
 */
export interface BrokerClockReading {
  /** Monotonic milliseconds when the request was sent. */
  readonly sentAt: number
  /** Monotonic milliseconds when the response was received. */
  readonly answeredAt: number
  /** The broker's append time. */
  readonly appendedAt: EpochMs
}

/**
 * Reads the broker's clock from a produce response; `undefined` when the topic keeps the producer's
 * timestamps (`message.timestamp.type=CreateTime`).
 */
export function brokerClockReading(
  answer: readonly RecordMetadata[],
  sentAt: number,
  answeredAt: number,
): BrokerClockReading | undefined {
  const appendedAt = Number(answer[0]?.logAppendTime ?? -1)
  return appendedAt < 0 ? undefined : { sentAt, answeredAt, appendedAt: epochMs(appendedAt) }
}
