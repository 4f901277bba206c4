import type { DeliveryState } from '../../core/delivery/delivery-state.ts'
import { noDestination } from '../../core/delivery/parse-dead-letter.ts'
import { firstOrigin } from '../../core/delivery/replay-decision.ts'
import type { TopicNames } from '../../core/topics.ts'
import type { AdmittedRecord } from './admitted-record.ts'

/**
 * Notes where a record comes from, for the ledger. A retry record without a reason is a copy that a
 * replay or resend wrote: the dispatcher writes a reason into each of its retry records.
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
  // Whether the record is a copy that a replay wrote. A copy in a retry topic has a `round` above
  // 0: the number of replays of its event. A copy in the events topic names an earlier record as
  // its first origin.
  const isReplayedEvent = isRetry ? (carried?.round ?? 0) > 0 : origin !== record
  admitted.identify({ appended: (carried?.origin ?? origin).timestamp, taken, isReplayedEvent })
}
