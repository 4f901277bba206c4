import type { DeliveryState } from '../../core/delivery/delivery-state.ts'
import { noDestination } from '../../core/delivery/parse-dead-letter.ts'
import { firstOrigin } from '../../core/delivery/replay-decision.ts'
import type { TopicNames } from '../../core/topics.ts'
import type { AdmittedRecord } from './admitted-record.ts'

/**
 * Notes what the ledger needs to know about a record. A copy that an operator wrote has no reason:
 * the dispatcher writes one into each of its own.
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
  // The event of a retry record was read from the events topic. `round` says how often it was replayed.
  const isReplayedEvent = isRetry ? (carried?.round ?? 0) > 0 : origin !== record
  admitted.identify({ appended: (carried?.origin ?? origin).timestamp, taken, isReplayedEvent })
}

/** Counts the deliveries of an event that an earlier owner of the partition has finished. */
export function countEarlierResults(admitted: AdmittedRecord): void {
  for (const [destination, result] of admitted.processor.tracker.resultsOf(admitted.record.offset)) {
    admitted.countAdmitted(destination)
    admitted.count(destination, result)
  }
}
