import type { RecordMetadata } from 'kafkajs'
import { type EpochMs, epochMs } from '../../core/units.ts'

/** A broker's append time, `appended`, and the monotonic milliseconds of this process between which it lies: request sent, answer received. */
export interface AppendReading {
  readonly sentAt: number
  readonly answeredAt: number
  readonly appended: EpochMs
}

/** Undefined: the topic keeps the producer's time, which says nothing of the broker's. */
export function appendReading(
  answer: readonly RecordMetadata[],
  sentAt: number,
  answeredAt: number,
): AppendReading | undefined {
  const appended = Number(answer[0]?.logAppendTime ?? -1)
  return appended < 0 ? undefined : { sentAt, answeredAt, appended: epochMs(appended) }
}
