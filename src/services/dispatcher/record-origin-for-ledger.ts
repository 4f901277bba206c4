import type { DeliveryState } from '../../core/delivery/delivery-state.ts'
import { noDestination } from '../../core/delivery/parse-dead-letter.ts'
import { firstOrigin } from '../../core/delivery/replay-decision.ts'
import type { TopicNames } from '../../core/topics.ts'
import type { AdmittedRecord } from './admitted-record.ts'

/**
 * Notes where a record comes from, for the ledger. A retry record without a reason is the copy of a
 * replay or resend, because the dispatcher always writes a reason.
 */
export function identify(
  admitted: AdmittedRecord,
  carried: DeliveryState | undefined,
  topics: Pick<TopicNames, 'tierOf'>,
): void {
  const { record } = admitted
  const isRetry = topics.tierOf(record.topic) !== undefined
  const isReplayed = carried === undefined || carried.reason === ''
  const taken = isRetry ? { destination: carried?.destination ?? noDestination, isReplayed } : undefined
  const origin = firstOrigin(record)
  // Whether a replay wrote the record: in a retry topic, its `round` (number of replays) is above
  // 0; in the events topic, its first origin is an earlier record.
  const isReplayedEvent = isRetry ? (carried?.round ?? 0) > 0 : origin !== record
  admitted.identify({ appended: (carried?.origin ?? origin).timestamp, taken, isReplayedEvent })
}
