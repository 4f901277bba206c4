import type { AudienceInput } from '../../core/audience/input.ts'
import { originalOf } from '../../core/delivery/dead-letter-record.ts'
import type { DeadLetter } from '../../core/delivery/parse-dead-letter.ts'
import { type ReplayContext, type ReplayRefusal, replayTargetOf } from '../../core/delivery/replay-decision.ts'
import type { Event } from '../../core/message/event.ts'
import type { Clock, EventCodec, LogRecord, OutgoingRecord, ValueCodec } from '../../core/ports.ts'
import { decodeWithSchemaFetch } from '../decode-with-schema-fetch.ts'

export interface ReplayTargetDeps {
  readonly clock: Clock
  readonly context: ReplayContext
  /**
   * `events` and `inputs` open codecs, which need the schema registry. They are called only for a
   * dead letter with a destination, so the replay of other dead letters needs no registry.
   */
  readonly events: () => Promise<EventCodec>
  readonly inputs: () => Promise<ValueCodec<AudienceInput>>
  /** Looks up the number of partitions of a topic. */
  readonly countPartitions: (topic: string) => Promise<number>
}

/**
 * How a dead letter is replayed: as the record `copy` in `topic`. `refusal` says why it cannot be
 * replayed.
 */
export type ReplayPlan = { readonly topic: string; readonly copy: OutgoingRecord } | { readonly refusal: ReplayRefusal }

/**
 * Returns a function that plans the replay of a dead letter. If the dead letter has a destination,
 * the function decodes the event, because the source of the event must still be connected to the
 * destination. The function rejects if the schema registry cannot be reached.
 */
export function createReplayPlans(
  deps: ReplayTargetDeps,
): (record: LogRecord, deadLetter: DeadLetter) => Promise<ReplayPlan> {
  const { clock, context } = deps
  const events = once(deps.events)
  const inputs = once(deps.inputs)
  const eventPartitions = once(() => deps.countPartitions(context.topics.events))

  /**
   * Decodes the event of a dead letter that has a destination. Without a destination, the dead
   * letter cannot be a delivery or an audience change, so its event is not needed.
   */
  async function eventIn(record: LogRecord, { destination }: DeadLetter): Promise<Event | undefined> {
    const { value } = originalOf(record)
    if (value === null || destination === undefined) return undefined
    const codec = await events()
    const decoded = await decodeWithSchemaFetch(codec, () => codec.decode(value, record.timestamp))
    return decoded.kind === 'event' ? decoded.event : undefined
  }

  /**
   * The events topic may have been created again with fewer partitions. Kafka would never store a
   * copy for a missing partition, so the key then selects an existing one.
   */
  async function withPartition({ partition = 0, ...copy }: OutgoingRecord): Promise<OutgoingRecord> {
    return partition < (await eventPartitions()) ? { ...copy, partition } : copy
  }

  return async (record, deadLetter) => {
    const event = await eventIn(record, deadLetter)
    const target = replayTargetOf(record, deadLetter, context, clock.now(), event)
    switch (target.kind) {
      case 'refused':
        return { refusal: target.reason }
      case 'resend': {
        const { input } = target
        const value = (await inputs()).encode(input)
        return {
          topic: context.topics.audienceInput,
          copy: { key: Buffer.from(input.userId), value, headers: {} },
        }
      }
      case 'event':
        return { topic: target.topic, copy: await withPartition(target.copy) }
      case 'delivery':
        return target
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
