import { type DeliveryState, parseDeliveryState } from '../../core/delivery/delivery-state.ts'
import type { LogRecord } from '../../core/ports.ts'
import type { TopicNames } from '../../core/topics.ts'

/** The delivery state in the headers of a retry record; `undefined` for other records. */
export function carriedIn({ topic, headers }: LogRecord, topics: TopicNames): DeliveryState | undefined {
  return topics.tierOf(topic) === undefined ? undefined : parseDeliveryState(headers)
}
