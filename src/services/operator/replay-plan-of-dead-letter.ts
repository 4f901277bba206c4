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
  /** Called only when a dead letter must be decoded: other replays need no schema registry. */
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
 * Returns a function that plans the replay of a dead letter. It decodes each event for one
 * destination: the source of a delivery must still be connected. Rejects if the schema registry
 * cannot be reached.
 */
export function createReplayTargets(
  deps: ReplayTargetDeps,
): (record: LogRecord, deadLetter: DeadLetter) => Promise<ReplayPlan> {
  const { clock, context } = deps
  const events = once(deps.events)
  const inputs = once(deps.inputs)
  const eventPartitions = once(() => deps.countPartitions(context.topics.events))

  /** Only an event for one destination can be a delivery or a change of an audience. */
  async function eventIn(record: LogRecord, { destination }: DeadLetter): Promise<Event | undefined> {
    const { value } = originalOf(record)
    if (value === null || destination === undefined) return undefined
    const codec = await events()
    const decoded = await decodeWithSchemaFetch(codec, () => codec.decode(value, record.timestamp))
    return decoded.kind === 'event' ? decoded.event : undefined
  }

  /**
   * The events topic may have been created again with fewer partitions. Kafka would never store a
   * copy for a missing partition, so the key then chooses another one.
   */
  async function withPartition({ partition = 0, ...copy }: OutgoingRecord): Promise<OutgoingRecord> {
    return partition < (await eventPartitions()) ? { ...copy, partition } : copy
  }

  return async (record, deadLetter) => {
    const event = await eventIn(record, deadLetter)
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
      case 'event':
        return { topic: way.topic, copy: await withPartition(way.copy) }
      case 'delivery':
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
