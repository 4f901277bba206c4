import type { MessageBatch } from '../../core/message/batch.ts'
import { normaliseSome } from '../../core/message/batch-messages.ts'
import { keyOf } from '../../core/message/event.ts'
import type { Message } from '../../core/message/message.ts'
import type { RejectedMessage } from '../../core/message/refusal.ts'
import type { Clock, EventCodec } from '../../core/ports.ts'
import type { EpochMs } from '../../core/units.ts'
import type { SuppressionList } from '../deletion/suppression-list.ts'
import type { HeldRecords, Keyed } from './held-records.ts'
import type { NextTurn } from './turns.ts'

interface Deps {
  readonly codec: EventCodec
  /** Of deleted users. */
  readonly marks: Pick<SuppressionList, 'size' | 'stops'>
  readonly clock: Clock
  readonly nextTurn: NextTurn
}

/** The request that a batch came in. */
export interface BatchOrigin {
  readonly sourceId: string
  readonly receivedAt: EpochMs
  /** One rejected message refuses the whole request. */
  readonly strict: boolean
}

export interface Made {
  readonly kind: 'made'
  readonly rejected: readonly RejectedMessage[]
  /** How many messages of suppressed users there are. */
  readonly suppressed: number
  /** How many `__proto__` members were left out. */
  readonly droppedKeys: number
}

/**
 * Makes the records of a batch, some milliseconds of work in each turn. Between two turns and later only texts and records exist: what
 * was parsed is let go. `no_memory`: `records` has no room for all of them.
 */
export type MakeRecords = (
  batch: MessageBatch,
  origin: BatchOrigin,
  records: HeldRecords,
) => Promise<Made | { kind: 'no_memory' }>

export function createMakeRecords({ codec, marks, clock, nextTurn }: Deps): MakeRecords {
  /**
   * Nothing is stored of users who asked for that. Their senders are told that it was, as by other collectors: an SDK would send it again,
   * and again. What was received before a deletion, by our own clock, is left to the dispatcher, which drops it.
   */
  function isSuppressed({ userId, type }: Message, { sourceId, receivedAt }: BatchOrigin): boolean {
    return marks.size > 0 && marks.stops({ sourceId, receivedAt, userId, type }, clock.now()) === 'suppressed'
  }

  function recordOf(message: Message, { sourceId, receivedAt }: BatchOrigin): Keyed {
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
