import type { JsonText } from '../../core/message/canonical-json-text.ts'
import type { Event, EventOrigin } from '../../core/message/event.ts'
import { forgedCanonicalFault } from '../../core/message/forged-canonical-event.ts'
import type { MessageType } from '../../core/message/message.ts'
import type { Decoded } from '../../core/ports.ts'
import { type EpochMs, epochMs } from '../../core/time.ts'

/** An event as the Avro schema `schemas/hookline.events-value.avsc` defines it. */
export interface EventRecord {
  readonly sourceId: string
  readonly type: string
  readonly messageId: string | null
  readonly userId: string | null
  readonly anonymousId: string | null
  readonly groupId: string | null
  readonly previousId: string | null
  readonly event: string | null
  readonly name: string | null
  readonly category: string | null
  readonly timestamp: number | null
  readonly receivedAt: number | null
  readonly properties: string | null
  readonly traits: string | null
  readonly context: string | null
  readonly integrations: string | null
  readonly destinationId: string | null
  readonly canonical: boolean
  readonly origin: {
    readonly kind: string
    readonly id: string
    readonly version: number | null
    readonly destinations: readonly string[] | null
  } | null
}

export function toEventRecord(event: Event): EventRecord {
  const { message, origin } = event
  return {
    sourceId: event.sourceId,
    type: message.type,
    messageId: message.messageId,
    userId: message.userId ?? null,
    anonymousId: message.anonymousId ?? null,
    groupId: message.groupId ?? null,
    previousId: message.previousId ?? null,
    event: message.event ?? null,
    name: message.name ?? null,
    category: message.category ?? null,
    timestamp: message.timestamp,
    receivedAt: event.receivedAt,
    properties: message.properties ?? null,
    traits: message.traits ?? null,
    context: message.context ?? null,
    integrations: message.integrations ?? null,
    destinationId: event.destinationId ?? null,
    canonical: event.canonical,
    origin: originRecordOf(origin),
  }
}

function originRecordOf(origin: EventOrigin | undefined): EventRecord['origin'] {
  if (origin === undefined) return null
  const { kind, id, version = null, destinations = null } = origin
  return { kind, id, version, destinations }
}

/**
 * Converts an Avro record to an event.
 * - `canonical: true` claims that Hookline wrote the record. Any producer can set it, so content
 *   that contradicts the claim is `undecodable`.
 * - `canonical: false`: `normaliseEvent` validates the event later.
 */
export function fromEventRecord(record: EventRecord, receivedAt: EpochMs): Decoded {
  const received = record.receivedAt === null ? receivedAt : epochMs(record.receivedAt)
  const event: Event = {
    sourceId: record.sourceId,
    destinationId: record.destinationId ?? undefined,
    receivedAt: received,
    canonical: record.canonical,
    origin: record.canonical ? originOf(record) : undefined,
    message: {
      type: record.type as MessageType,
      messageId: record.messageId ?? '',
      userId: record.userId ?? undefined,
      anonymousId: record.anonymousId ?? undefined,
      groupId: record.groupId ?? undefined,
      previousId: record.previousId ?? undefined,
      event: record.event ?? undefined,
      name: record.name ?? undefined,
      category: record.category ?? undefined,
      timestamp: record.timestamp === null ? received : epochMs(record.timestamp),
      properties: (record.properties ?? undefined) as JsonText | undefined,
      traits: (record.traits ?? undefined) as JsonText | undefined,
      context: (record.context ?? undefined) as JsonText | undefined,
      integrations: (record.integrations ?? undefined) as JsonText | undefined,
    },
  }
  if (!record.canonical) return { kind: 'event', event }
  const fault = record.timestamp === null ? 'it has no timestamp' : forgedCanonicalFault(event)
  if (fault === undefined) return { kind: 'event', event }
  const wrong = `this event has \`canonical: true\`, which only Hookline may write, but Hookline did not write the event: ${fault}`
  return {
    kind: 'undecodable',
    detail: `${wrong}; in this record, the producer must set the field \`canonical\` to false`,
  }
}

function originOf({ origin }: EventRecord): EventOrigin | undefined {
  if (origin === null) return undefined
  const { kind, id, version, destinations } = origin
  return {
    kind: kind as EventOrigin['kind'],
    id,
    version: version ?? undefined,
    ...(destinations !== null && { destinations }),
  }
}
