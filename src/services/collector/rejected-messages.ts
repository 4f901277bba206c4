import type { MemoryBudget } from '../../core/collector/memory-budget.ts'
import { rejectedRecord } from '../../core/collector/rejected-record.ts'
import { idIn } from '../../core/message/json.ts'
import { maxWorkPerCall } from '../../core/message/normalise-batch.ts'
import type { RejectedMessage } from '../../core/message/request-refusal.ts'
import type { Metrics } from '../../core/metrics/metrics.ts'
import type { Clock, Logger, LogProducer, OutgoingRecord } from '../../core/ports.ts'
import type { EpochMs } from '../../core/time.ts'
import type { SuppressionList } from '../deletion/suppression-list.ts'
import { heldBytes } from './held-records.ts'
import type { NextTimeSlice } from './time-slices.ts'

interface Deps {
  readonly producer: LogProducer
  readonly topic: string
  readonly held: MemoryBudget
  readonly suppressions: Pick<SuppressionList, 'size' | 'stops'>
  readonly clock: Clock
  readonly nextTurn: NextTimeSlice
  readonly metrics: Metrics
  readonly logger: Logger
}

/** The rejected messages of a request. */
interface Rejected {
  readonly sourceId: string
  readonly receivedAt: EpochMs
  readonly rejected: readonly RejectedMessage[]
  /** Returns the message at an index, as it was received. */
  text(index: number): string
}

/**
 * Writes rejected messages to the rejected topic, where an operator can see what is wrong at the
 * sender. Resolves when the producer has the records. No response waits until they are stored: a
 * failed write is counted and not repeated, because the sender gets the errors in its response.
 */
export type KeepRejected = (rejected: Rejected) => Promise<void>

export function createKeepRejected(deps: Deps): KeepRejected {
  const { producer, topic, held, suppressions, clock, nextTurn, metrics, logger } = deps

  function lost(count: number, why: string): void {
    metrics.collectorRejectsLost.inc({}, count)
    logger.debug(
      { topic, messages: count, why },
      'the collector could not write rejected messages to the topic of rejected messages (see the field "why"), so that topic lacks them; the responses to the senders still list them',
    )
  }

  function append(record: OutgoingRecord): void {
    const bytes = heldBytes(record)
    if (!held.take(bytes)) return lost(1, 'the memory for records that wait for Kafka is full')
    producer.append(topic, record, error => {
      held.giveBack(bytes)
      if (error !== undefined) lost(1, error.message)
    })
  }

  /**
   * Whether a text may contain data of a suppressed user. The user id is searched in the text,
   * because the text may not be valid JSON. A text without a user id counts as private if it is not
   * a JSON object. While the suppression list is empty, no text is private.
   */
  function isPrivate({ code }: RejectedMessage, text: string, { sourceId, receivedAt }: Rejected): boolean {
    if (suppressions.size === 0) return false
    const userId = idIn(text, 'userId')
    if (userId === undefined) return code === 'invalid_json' || code === 'not_an_object'
    return suppressions.stops({ sourceId, receivedAt, userId }, clock.now()) === 'suppressed'
  }

  return async request => {
    const { sourceId: source, receivedAt, rejected } = request
    let work = 0
    for (const each of rejected) {
      const text = request.text(each.index)
      if (work + text.length > maxWorkPerCall) {
        await nextTurn()
        work = 0
      }
      const shown = isPrivate(each, text, request) ? undefined : text
      append(rejectedRecord({ ...each, source, receivedAt, text: shown }))
      work += text.length
    }
  }
}
