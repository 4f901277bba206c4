import type { SharedMemory } from '../../core/collector/memory-limit-by-group.ts'
import { rejectedRecord } from '../../core/collector/rejected-record.ts'
import { isSuppressed } from '../../core/deletion/suppressions.ts'
import type { RejectionCode } from '../../core/message/message-rejection.ts'
import { maxWorkPerCall } from '../../core/message/normalise-batch.ts'
import { idIn } from '../../core/message/parse-message-json.ts'
import type { RejectedMessage } from '../../core/message/request-refusal.ts'
import type { Metrics } from '../../core/metrics/metrics.ts'
import type { Logger, LogProducer, OutgoingRecord } from '../../core/ports.ts'
import type { EpochMs } from '../../core/time.ts'
import type { SuppressionList } from '../deletion/suppression-list.ts'
import type { NextTurn } from './fair-turns.ts'
import { copyWithOwnBuffer, heldBytes } from './request-records-in-memory.ts'

interface Deps {
  readonly producer: LogProducer
  readonly topic: string
  /** The memory for rejected messages that Kafka has not acknowledged. */
  readonly held: SharedMemory
  readonly suppressions: Pick<SuppressionList, 'size' | 'get'>
  readonly nextTurn: NextTurn
  readonly metrics: Metrics
  readonly logger: Logger
}

/** Maximum number of rejected messages of one request in the rejected topic. */
export const maxKeptPerRequest = 1_000
/**
 * The cost of making one record, in addition to the length of its text. `NextTurn` measures work in
 * characters, so this cost is in characters too.
 */
const workOfRecord = 256
/** The rejection codes of messages whose text is possibly not a JSON object. */
const codesOfAnyText: ReadonlySet<RejectionCode> = new Set([
  'invalid_json',
  'not_an_object',
  'message_too_large',
  'too_many_messages',
])

/** The rejected messages of a request. */
interface Rejected {
  readonly sourceId: string
  readonly receivedAt: EpochMs
  readonly rejected: readonly RejectedMessage[]
  text(index: number): string
}

/**
 * Writes at most 1,000 rejected messages of a request to the rejected topic. The response does not
 * wait for Kafka.
 */
export type KeepRejected = (rejected: Rejected) => Promise<void>

export function createKeepRejected(deps: Deps): KeepRejected {
  const { producer, topic, held, suppressions, nextTurn, metrics, logger } = deps

  function lost(count: number, why: string): void {
    metrics.collectorRejectsLost.inc({}, count)
    logger.debug(
      { topic, messages: count, why },
      'the collector did not write some rejected messages to Kafka (see "topic", "why" and the number in "messages"); the senders still get the errors of these messages in the responses',
    )
  }

  function append(source: string, record: OutgoingRecord): void {
    const bytes = heldBytes(record)
    if (!held.take(source, bytes)) return lost(1, 'the memory for rejected messages of this source is full')
    producer.append(topic, copyWithOwnBuffer(record), error => {
      held.giveBack(source, bytes)
      if (error !== undefined) lost(1, error.message)
    })
  }

  /**
   * Whether a text may contain data of a suppressed user. A text without a user id counts as
   * private if it is possibly not a JSON object.
   */
  function isPrivate({ code }: RejectedMessage, text: string, { sourceId }: Rejected): boolean {
    if (suppressions.size === 0) return false
    const userId = idIn(text, 'userId')
    if (userId === undefined && codesOfAnyText.has(code)) return true
    // An alias has a second id of the user in `previousId`.
    return [userId, idIn(text, 'previousId')].some(
      id => id !== undefined && isSuppressed(suppressions.get(id) ?? [], sourceId),
    )
  }

  return async request => {
    const { sourceId: source, receivedAt, rejected } = request
    const kept = rejected.slice(0, maxKeptPerRequest)
    if (kept.length < rejected.length)
      lost(rejected.length - kept.length, `the request has more than ${maxKeptPerRequest} rejected messages`)
    let work = 0
    for (const each of kept) {
      const text = request.text(each.index)
      if (work + text.length > maxWorkPerCall) {
        await nextTurn(source)
        work = 0
      }
      const shown = isPrivate(each, text, request) ? undefined : text
      append(source, rejectedRecord({ ...each, source, receivedAt, text: shown }))
      work += text.length + workOfRecord
    }
  }
}
