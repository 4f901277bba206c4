import type { DeliveryState } from '../../core/delivery/delivery-state.ts'
import { noDestination } from '../../core/delivery/parse-dead-letter.ts'
import { firstOrigin } from '../../core/delivery/replay-decision.ts'
import type { TopicNames } from '../../core/topics.ts'
import type { AdmittedRecord } from './admitted-record.ts'

/**
 * Notes for the ledger where a record comes from. A retry record without a reason was written by a
 * replay or resend.
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
  // A replayed retry record has a `round` above 0. For a replayed event, `firstOrigin` does not
  // return `record`.
  const isReplayedEvent = isRetry ? (carried?.round ?? 0) > 0 : origin !== record
  admitted.identify({ appended: (carried?.origin ?? origin).timestamp, taken, isReplayedEvent })
}
