import type { EpochMs } from '../time.ts'
import type { JsonObject } from './json.ts'
import type { Message } from './message.ts'
import { type Rejection, rejection } from './message-rejection.ts'
import { maxTextLength, textTooLong } from './message-size-limits.ts'
import { normalise } from './normalise.ts'
import { parseField } from './parse-message-json.ts'
import { isTimestamp, toIsoTimestamp } from './timestamp.ts'

/** The origin of an event that Hookline created itself. */
export interface EventOrigin {
  readonly kind: 'audience' | 'deletion'
  /** Name of the audience, or id of the deletion request. */
  readonly id: string
  /** For an audience: the version of the user's membership, which each change raises. */
  readonly version: number | undefined
  /**
   * For a deletion: the destinations whose results the deletion waits for, even if they no longer
   * receive messages of the source.
   */
  readonly destinations?: readonly string[] | undefined
}

/**
 * Maximum length of `EventOrigin.destinations`, so that events and retry records stay small. For a
 * source with more destinations, a deletion writes several messages, each for a part of them.
 */
export const maxNamedDestinations = 1_000

/** A message in the form of a record of the events topic. */
export interface Event {
  readonly sourceId: string
  /** Set when the event is for a single destination, as a membership update is. */
  readonly destinationId: string | undefined
  readonly receivedAt: EpochMs
  /** True when Hookline itself wrote the event, so its message is already normalised. */
  readonly canonical: boolean
  readonly origin: EventOrigin | undefined
  readonly message: Message
}

/** The parts of an event that are still needed after its request body was built. */
export interface EventHead extends Pick<Event, 'sourceId' | 'receivedAt' | 'origin'> {
  readonly message: Pick<Message, 'type' | 'userId' | 'traits'>
}

/**
 * Keeps only the fields that the dispatcher reports for a membership update or deletion, to save
 * memory while deliveries wait.
 */
export function headOf({ sourceId, receivedAt, origin, message }: Event): EventHead {
  const { type, userId } = message
  const traits = origin === undefined ? undefined : message.traits
  return { sourceId, receivedAt, origin, message: { type, userId, traits } }
}

/**
 * The user of a message, always set after `normalise`. It is the record key, so that one user's
 * messages stay in order.
 */
export const keyOf = (message: Message): string | undefined => message.userId ?? message.anonymousId

export interface NormalisedEvent {
  readonly kind: 'event'
  readonly event: Event
  /** Number of `__proto__` members that were removed, for `hookline_dropped_keys_total`. */
  readonly droppedKeys: number
}

/**
 * Normalises an event of another application. `newId` must return the same id each time this record
 * is read: derive it from topic, partition and offset.
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
  rejection(
    'invalid_timestamp',
    `'${field}' is out of range: send a time in the years 0001 to 9999, in milliseconds since 1970.`,
  )

/** Converts the message to the form in which an SDK sends it. Any field may be missing. */
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
    // The timestamp becomes text, because `parseTimestamp` reads a small number as seconds.
    value['timestamp'] = toIsoTimestamp(timestamp)
  }
  return { kind: 'input', value }
}
