import { originalOf } from '../delivery/dead-letter-record.ts'
import { type DeadLetter, noDestination, parseDeadLetter } from '../delivery/parse-dead-letter.ts'
import type { Event } from '../message/event.ts'
import { eventDocument } from '../message/event-document.ts'
import { isoOf } from '../message/timestamp.ts'
import type { LogRecord, RecordHeaders } from '../ports.ts'

/** A place on the log. */
export interface LogPlace {
  readonly topic: string
  readonly partition: number
  readonly offset: number
}

/** A dead letter as the operator API shows it. It contains no body, no URL and no user id. */
export interface DeadLetterView {
  readonly key: string
  /** ISO 8601, UTC. */
  readonly at: string
  /** `-` for an event that never became a delivery. */
  readonly destination: string
  readonly reason: string
  /** The first of `outcomes`. */
  readonly outcome?: string | undefined
  /** The last outcome of each webhook, or the rejection code. */
  readonly outcomes: readonly string[]
  readonly messageId?: string | undefined
  readonly sourceId?: string | undefined
  readonly type?: string | undefined
  readonly attempts?: number | undefined
  /** How often it was replayed before; at least 1 after a resend. */
  readonly round: number
  /** The place of the event; `undefined` when the record does not say it. */
  readonly position?: LogPlace | undefined
}

/** The fields of the event that a dead letter shows. */
export type ShownEvent = Pick<DeadLetterView, 'sourceId' | 'type'>

export const deadLetterView = (deadLetter: DeadLetter, { sourceId, type }: ShownEvent): DeadLetterView => ({
  key: deadLetter.key,
  at: isoOf(deadLetter.at),
  destination: deadLetter.destination ?? noDestination,
  reason: deadLetter.reason,
  outcome: deadLetter.outcomes[0],
  outcomes: deadLetter.outcomes,
  messageId: deadLetter.messageId,
  sourceId,
  type,
  attempts: deadLetter.attempts,
  round: deadLetter.round,
  position: deadLetter.origin && placeOf(deadLetter.origin),
})

export const placeOf = ({ topic, partition, offset }: LogPlace): LogPlace => ({ topic, partition, offset })

/** One dead letter with all that its record has. */
export interface DeadLetterDetails extends DeadLetterView {
  readonly startedAt?: string | undefined
  readonly deadline?: string | undefined
  /** The full length in bytes of an event of which only the beginning was kept. */
  readonly originalLength?: number | undefined
  /** The headers of the record, with those of the event. Only for the role `operate`. */
  readonly headers?: RecordHeaders
  /** The event. Only for the role `operate`; absent when it cannot be decoded. */
  readonly body?: object | undefined
  /** The value of the event in base64, when it cannot be decoded. Only for the role `operate`. */
  readonly bodyBase64?: string | undefined
}

/** `isFull`: whether the reader may see the headers and the event. */
export function deadLetterDetails(record: LogRecord, event: Event | undefined, isFull: boolean): DeadLetterDetails {
  const deadLetter = parseDeadLetter(record)
  const { startedAt, deadline, originalLength } = deadLetter
  const details: DeadLetterDetails = {
    ...deadLetterView(deadLetter, { sourceId: event?.sourceId, type: event?.message.type }),
    startedAt: startedAt && isoOf(startedAt),
    deadline: deadline && isoOf(deadline),
    originalLength,
  }
  if (!isFull) return details
  const body = event === undefined ? undefined : eventDocument(event)
  const bytes = body === undefined ? originalOf(record).value : null
  return { ...details, headers: record.headers, body, ...(bytes !== null && { bodyBase64: bytes.toString('base64') }) }
}
