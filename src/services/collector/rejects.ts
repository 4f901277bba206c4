import type { MemoryBudget } from '../../core/collector/memory-budget.ts'
import { rejectedRecord } from '../../core/collector/rejected-record.ts'
import { workAtOnce } from '../../core/message/batch-messages.ts'
import { idIn } from '../../core/message/json.ts'
import type { RejectedMessage } from '../../core/message/refusal.ts'
import type { Metrics } from '../../core/metrics/metrics.ts'
import type { Clock, Logger, LogProducer, OutgoingRecord } from '../../core/ports.ts'
import type { EpochMs } from '../../core/units.ts'
import type { SuppressionList } from '../deletion/suppression-list.ts'
import { heldBytes } from './held-records.ts'
import type { NextTurn } from './turns.ts'

interface Deps {
  readonly producer: LogProducer
  readonly topic: string
  readonly held: MemoryBudget
  /** Of deleted users. */
  readonly marks: Pick<SuppressionList, 'size' | 'stops'>
  readonly clock: Clock
  readonly nextTurn: NextTurn
  readonly metrics: Metrics
  readonly logger: Logger
}

/** The rejected messages of a request. */
interface Rejected {
  readonly sourceId: string
  readonly receivedAt: EpochMs
  readonly rejected: readonly RejectedMessage[]
  /** The message at an index, as it came. */
  text(index: number): string
}

/**
 * Writes rejected messages to their topic, for whoever wants to know what is wrong at the sender's. It resolves when they are handed over:
 * nobody waits until they are stored, and what cannot be written is counted and let go, as its sender was told.
 */
export type KeepRejected = (rejected: Rejected) => Promise<void>

export function createKeepRejected(deps: Deps): KeepRejected {
  const { producer, topic, held, marks, clock, nextTurn, metrics, logger } = deps

  function lost(count: number, why: string): void {
    metrics.collectorRejectsLost.inc({}, count)
    logger.debug({ topic, messages: count, why }, 'rejected messages are not kept')
  }

  function append(record: OutgoingRecord): void {
    const bytes = heldBytes(record)
    if (!held.take(bytes)) return lost(1, 'no memory')
    producer.append(topic, record, error => {
      held.giveBack(bytes)
      if (error !== undefined) lost(1, error.message)
    })
  }

  /**
   * Whether a text may tell of a suppressed user. In a message that is not JSON the user id is looked for among its outermost members;
   * while any user is suppressed or deleted, what is broken or no object, and has no user id that can be read, counts as one of theirs.
   */
  function isPrivate({ code }: RejectedMessage, text: string, { sourceId, receivedAt }: Rejected): boolean {
    if (marks.size === 0) return false
    const userId = idIn(text, 'userId')
    if (userId === undefined) return code === 'invalid_json' || code === 'not_an_object'
    return marks.stops({ sourceId, receivedAt, userId }, clock.now()) === 'suppressed'
  }

  return async request => {
    const { sourceId: source, receivedAt, rejected } = request
    let work = 0
    for (const each of rejected) {
      const text = request.text(each.index)
      if (work + text.length > workAtOnce) {
        await nextTurn()
        work = 0
      }
      const shown = isPrivate(each, text, request) ? undefined : text
      append(rejectedRecord({ ...each, source, receivedAt, text: shown }))
      work += text.length
    }
  }
}
