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
  /**
   * Creates the codec of events. It is called at the first dead letter of a delivery, so that a
   * replay without deliveries needs no schema registry. Likewise, `inputs` creates the codec of
   * audience inputs at the first dead letter of a membership update.
   */
  readonly events: () => Promise<EventCodec>
  readonly inputs: () => Promise<ValueCodec<AudienceInput>>
}

/**
 * How a dead letter is replayed: by appending the record `copy` to `topic`. If the dead letter
 * cannot be replayed, `refusal` says why.
 */
export type ReplayPlan = { readonly topic: string; readonly copy: OutgoingRecord } | { readonly refusal: ReplayRefusal }

/**
 * Returns a function that makes the replay plan of a dead letter. If the dead letter is from a
 * delivery, the function decodes the event: only the event names its source, and the source must
 * still be connected to the destination. An event that never became a delivery is written again
 * unchanged. The returned function rejects when it needs the schema registry and cannot reach it.
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
