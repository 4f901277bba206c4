import type { AudienceInput } from '../../core/audience/input.ts'
import { originalOf } from '../../core/delivery/dead-letter-record.ts'
import { parseDeliveryState } from '../../core/delivery/delivery-state.ts'
import type { DeadLetter } from '../../core/delivery/parse-dead-letter.ts'
import { type ReplayContext, type ReplayRefusal, replayTargetOf } from '../../core/delivery/replay-decision.ts'
import type { Event } from '../../core/message/event.ts'
import type { Clock, EventCodec, LogRecord, OutgoingRecord, ValueCodec } from '../../core/ports.ts'
import { decodeWithSchemaFetch } from '../decode-with-schema-fetch.ts'

export interface ReplayTargetDeps {
  readonly clock: Clock
  readonly context: ReplayContext
  /** Called only when a dead letter must be decoded: other replays need no schema registry. */
  readonly events: () => Promise<EventCodec>
  readonly inputs: () => Promise<ValueCodec<AudienceInput>>
}

/**
 * How a dead letter is replayed: as the record `copy` in `topic`. `refusal` says why it cannot be
 * replayed.
 */
export type ReplayPlan = { readonly topic: string; readonly copy: OutgoingRecord } | { readonly refusal: ReplayRefusal }

/**
 * Returns a function that plans the replay of a dead letter. It decodes a delivery's event, whose
 * source must still be connected, and rejects if the schema registry cannot be reached.
 */
export function createReplayTargets(
  deps: ReplayTargetDeps,
): (record: LogRecord, deadLetter: DeadLetter) => Promise<ReplayPlan> {
  const { clock, context } = deps
  const events = once(deps.events)
  const inputs = once(deps.inputs)

  async function eventIn(record: LogRecord): Promise<Event | undefined> {
    const { value } = originalOf(record)
    if (value === null || parseDeliveryState(record.headers) === undefined) return undefined
    const codec = await events()
    const decoded = await decodeWithSchemaFetch(codec, () => codec.decode(value, record.timestamp))
    return decoded.kind === 'event' ? decoded.event : undefined
  }

  return async (record, deadLetter) => {
    const event = await eventIn(record)
    const way = replayTargetOf(record, deadLetter, context, clock.now(), event)
    switch (way.kind) {
      case 'refused':
        return { refusal: way.reason }
      case 'resend': {
        const { input } = way
        const value = (await inputs()).encode(input)
        return {
          topic: context.topics.audienceInput,
          copy: { key: Buffer.from(input.userId), value, headers: {} },
        }
      }
      default:
        return way
    }
  }
}

function once<T>(open: () => Promise<T>): () => Promise<T> {
  let opened: Promise<T> | undefined
  return () => {
    opened ??= open()
    return opened
  }
}
