import type { EpochMs } from '../units.ts'
import { type JsonObject, parseField } from './json.ts'
import { type Message, type Rejection, rejection } from './message.ts'
import { murmur2 } from './murmur2.ts'
import { normalise } from './normalise.ts'
import { maxTextLength, textTooLong } from './parts.ts'
import { isTimestamp, toIsoTimestamp } from './timestamp.ts'

/** What made an event that no SDK sent. */
export interface EventOrigin {
  readonly kind: 'audience' | 'deletion'
  /** The audience's name, or the deletion request's id. */
  readonly id: string
  /** Audience events: the version of the membership this event tells of. */
  readonly version: number | undefined
  /** Deletion events: the destinations of which is waited to hear; each is reported, connected by then or not. */
  readonly destinations?: readonly string[] | undefined
}

/** A message as it stands on the events topic. */
export interface Event {
  readonly sourceId: string
  /** Set on events meant for one destination only (audiences). */
  readonly destinationId: string | undefined
  readonly receivedAt: EpochMs
  /** Set by our own writers after `normalise`; the dispatcher normalises the others. */
  readonly canonical: boolean
  readonly origin: EventOrigin | undefined
  readonly message: Message
}

/** What is asked of an event once its body is made: where it comes from and whom it is about. */
export interface EventHead extends Pick<Event, 'sourceId' | 'receivedAt' | 'origin'> {
  readonly message: Pick<Message, 'type' | 'userId' | 'traits'>
}

/**
 * Of what the message says only what the end of one of our own is reported with. Deliveries wait by the thousand: with its texts each would hold
 * its message twice, here and as the body.
 */
export function headOf({ sourceId, receivedAt, origin, message }: Event): EventHead {
  const { type, userId } = message
  const traits = origin === undefined ? undefined : message.traits
  return { sourceId, receivedAt, origin, message: { type, userId, traits } }
}

/** Whom a message is about (always known after `normalise`): the record key, so that one user's messages stay in order. */
export const keyOf = (message: Message): string | undefined => message.userId ?? message.anonymousId

/** The partition where every Kafka client that agrees with Java's puts this key. */
export const partitionFor = (key: Buffer, partitions: number): number => (murmur2(key) & 0x7fffffff) % partitions

export interface NormalisedEvent {
  readonly kind: 'event'
  readonly event: Event
  /** How many `__proto__` members were left out. */
  readonly droppedKeys: number
}

/**
 * An event that a foreign producer wrote (`canonical` false) → as our own writers would have written it. Its free-form
 * parts may be any text; its times are milliseconds already. A `delete` is `unknown_type`: only deletion requests make
 * them. `newId` must give the same id whenever the same record is read, so make it of topic, partition and offset.
 */
export function normaliseEvent(event: Event, newId: () => string): NormalisedEvent | Rejection {
  const { receivedAt } = event
  if (!isTimestamp(receivedAt)) return outOfRange('receivedAt')
  const input = toInput(event.message)
  if (input.kind === 'rejected') return input
  const outcome = normalise(input.value, { receivedAt, sentAt: undefined, newId })
  if (outcome.kind === 'rejected') return outcome
  const { message, droppedKeys } = outcome
  return { kind: 'event', event: { ...event, canonical: true, message }, droppedKeys }
}

const outOfRange = (field: string): Rejection =>
  rejection('invalid_timestamp', `'${field}' is out of range: send milliseconds since 1970 in the years 0001 to 9999.`)

/** The message as an SDK would have sent it. A foreign producer may have left anything out. */
function toInput(message: Partial<Message>): { readonly kind: 'input'; readonly value: JsonObject } | Rejection {
  const value: Record<string, unknown> = { ...message }
  for (const name of ['properties', 'traits', 'context', 'integrations'] as const) {
    const text = message[name]
    if (text === undefined || text === null) continue
    if (text.length > maxTextLength) return textTooLong
    const parsed = parseField(text, name)
    if (parsed.kind === 'rejected') return parsed
    value[name] = parsed.value
  }
  const { timestamp } = message
  if (timestamp !== undefined && timestamp !== null) {
    if (!isTimestamp(timestamp)) return outOfRange('timestamp')
    // As text: a small number would be taken for seconds.
    value['timestamp'] = toIsoTimestamp(timestamp)
  }
  return { kind: 'input', value }
}
