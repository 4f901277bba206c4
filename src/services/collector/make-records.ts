import type { MessageBatch } from '../../core/message/batch.ts'
import { keyOf } from '../../core/message/event.ts'
import type { Message } from '../../core/message/message.ts'
import { normaliseSome } from '../../core/message/normalise-batch.ts'
import { maxBytesOfRejected, type RejectedMessage } from '../../core/message/request-refusal.ts'
import type { Clock, EventCodec } from '../../core/ports.ts'
import type { EpochMs } from '../../core/time.ts'
import type { SuppressionList } from '../deletion/suppression-list.ts'
import type { NextTurn } from './fair-turns.ts'
import type { HeldRecords, RecordWithoutHeaders } from './request-records-in-memory.ts'

interface Deps {
  readonly codec: EventCodec
  readonly suppressions: Pick<SuppressionList, 'size' | 'stops'>
  readonly clock: Clock
  readonly nextTurn: NextTurn
}

/** The request that a batch came in. */
export interface BatchOrigin {
  readonly sourceId: string
  readonly receivedAt: EpochMs
  /** Strict mode: one rejected message rejects the whole request. */
  readonly strict: boolean
  /** Reserves memory for rejected messages. Returns false when the source may not use it now. */
  reserve(bytes: number): boolean
  /** Whether `reserve` could succeed if no other request held memory. */
  canEverReserve(bytes: number): boolean
}

/** The rejected messages of a batch, and two counts. */
interface NotStored {
  readonly rejected: RejectedMessage[]
  /** Number of unstored messages of suppressed users. */
  suppressed: number
  /** Number of `__proto__` members that were removed. */
  droppedKeys: number
}

export type Made = ({ readonly kind: 'made' } & Readonly<NotStored>) | { readonly kind: NotMade }

/**
 * `no_memory`: the source may not use the memory now. `too_many_rejected`: the rejections need more
 * memory than one request may use.
 */
type NotMade = 'no_memory' | 'too_many_rejected'

/** Makes the records of a batch in turns. Between turns, no parsed message stays in memory. */
export type MakeRecords = (batch: MessageBatch, origin: BatchOrigin, records: HeldRecords) => Promise<Made>

export function createMakeRecords({ codec, suppressions, clock, nextTurn }: Deps): MakeRecords {
  /**
   * Whether a message's user is suppressed. The sender still gets a success response, because SDKs
   * would repeat the message after an error.
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

  /**
   * Makes the records of some messages. Not asynchronous, so that no parsed message stays in memory
   * during the turns of other requests.
   */
  function makePart(
    batch: MessageBatch,
    from: number,
    { origin, records, notStored }: { origin: BatchOrigin; records: HeldRecords; notStored: NotStored },
  ): number | NotMade {
    const { receivedAt, strict, reserve, canEverReserve } = origin
    const part = normaliseSome(batch, from, { receivedAt, newId: () => clock.id() })
    if (part.rejected.length > 0) {
      const bytes = part.rejected.reduce((sum, each) => sum + maxBytesOfRejected(each), 0)
      if (!reserve(bytes)) return canEverReserve(bytes) ? 'no_memory' : 'too_many_rejected'
      notStored.rejected.push(...part.rejected)
    }
    notStored.droppedKeys += part.droppedKeys
    if (strict && notStored.rejected.length > 0) return part.next
    for (const message of part.messages) {
      if (isSuppressed(message, origin)) notStored.suppressed += 1
      else if (!records.add(recordOf(message, origin))) return 'no_memory'
    }
    return part.next
  }

  return async (batch, origin, records) => {
    const notStored: NotStored = { rejected: [], suppressed: 0, droppedKeys: batch.droppedKeys }
    for (let next = 0; next < batch.elements.size; ) {
      if (next > 0) await nextTurn(origin.sourceId)
      const after = makePart(batch, next, { origin, records, notStored })
      if (typeof after === 'string') return { kind: after }
      next = after
    }
    return { kind: 'made', ...notStored }
  }
}
