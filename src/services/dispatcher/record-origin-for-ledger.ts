import type { DeliveryState } from '../../core/delivery/delivery-state.ts'
import { noDestination } from '../../core/delivery/parse-dead-letter.ts'
import { firstOrigin } from '../../core/delivery/replay-decision.ts'
import type { TopicNames } from '../../core/topics.ts'
import type { AdmittedRecord } from './admitted-record.ts'

/**
 * Notes the origin of a record, which the ledger needs. If the delivery state of a retry record has
 * no `reason`, a replay or resend wrote the record.
 */
export function noteOriginForLedger(
  admitted: AdmittedRecord,
  carried: DeliveryState | undefined,
  topics: Pick<TopicNames, 'tierOf'>,
): void {
  const { record } = admitted
  const isRetry = topics.tierOf(record.topic) !== undefined
  const isReplayed = carried === undefined || carried.reason === ''
  const retryRecord = isRetry ? { destination: carried?.destination ?? noDestination, isReplayed } : undefined
  const origin = firstOrigin(record)
  // A replayed retry record has a `round` above 0. The header of a replayed event names the event's
  // original record, so `firstOrigin` does not return `record`.
  const isReplayedEvent = isRetry ? (carried?.round ?? 0) > 0 : origin !== record
  admitted.noteOrigin({ appendedAt: (carried?.origin ?? origin).timestamp, retryRecord, isReplayedEvent })
}
