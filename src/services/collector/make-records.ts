import type { MessageBatch } from '../../core/message/batch.ts'
import { keyOf } from '../../core/message/event.ts'
import type { Message } from '../../core/message/message.ts'
import { normaliseSome } from '../../core/message/normalise-batch.ts'
import type { RejectedMessage } from '../../core/message/request-refusal.ts'
import type { Clock, EventCodec } from '../../core/ports.ts'
import type { EpochMs } from '../../core/time.ts'
import type { SuppressionList } from '../deletion/suppression-list.ts'
import type { HeldRecords, RecordWithoutHeaders } from './held-records.ts'
import type { NextTimeSlice } from './time-slices.ts'

interface Deps {
  readonly codec: EventCodec
  readonly suppressions: Pick<SuppressionList, 'size' | 'stops'>
  readonly clock: Clock
  readonly nextTurn: NextTimeSlice
}

/** The request that a batch came in. */
export interface BatchOrigin {
  readonly sourceId: string
  readonly receivedAt: EpochMs
  /** Strict mode: one rejected message rejects the whole request. */
  readonly strict: boolean
}

export interface Made {
  readonly kind: 'made'
  readonly rejected: readonly RejectedMessage[]
  /** Number of messages of suppressed users, which are not stored. */
  readonly suppressed: number
  /** Number of `__proto__` members that were removed. */
  readonly droppedKeys: number
}

/**
 * Makes the records of a batch, in turns of some milliseconds. After each turn, the messages that
 * it parsed are released: only texts and records stay in memory. Resolves with `no_memory` when the
 * memory budget is too small for the records.
 */
export type MakeRecords = (
  batch: MessageBatch,
  origin: BatchOrigin,
  records: HeldRecords,
) => Promise<Made | { kind: 'no_memory' }>

export function createMakeRecords({ codec, suppressions, clock, nextTurn }: Deps): MakeRecords {
  /**
   * Whether a message belongs to a suppressed user. If so, it is not stored, but its sender gets a
   * success response: after an error, an SDK would send it again and again. If this process
   * received the message before the deletion, it stores the message, and the dispatcher drops it.
   */
  function isSuppressed({ userId, type }: Message, { sourceId, receivedAt }: BatchOrigin): boolean {
    return (
      suppressions.size > 0 && suppressions.stops({ sourceId, receivedAt, userId, type }, clock.now()) === 'suppressed'
    )
  }

  function recordOf(message: Message, { sourceId, receivedAt }: BatchOrigin): RecordWithoutHeaders {
    const event = { sourceId, destinationId: undefined, receivedAt, canonical: true, origin: undefined, message }
    const key = keyOf(message)
    return { key: key === undefined ? null : Buffer.from(key), value: codec.encode(event) }
  }

  return async (batch, origin, records) => {
    const { receivedAt, strict } = origin
    const rejected: RejectedMessage[] = []
    let suppressed = 0
    let droppedKeys = 0
    for (let next = 0; next < batch.elements.size; ) {
      if (next > 0) await nextTurn()
      const part = normaliseSome(batch, next, { receivedAt, newId: () => clock.id() })
      next = part.next
      rejected.push(...part.rejected)
      droppedKeys += part.droppedKeys
      if (strict && rejected.length > 0) continue
      for (const message of part.messages) {
        if (isSuppressed(message, origin)) suppressed += 1
        else if (!records.add(recordOf(message, origin))) return { kind: 'no_memory' }
      }
    }
    return { kind: 'made', rejected, suppressed, droppedKeys }
  }
}
