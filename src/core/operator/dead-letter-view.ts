import { originalOf } from '../delivery/dead-letter-record.ts'
import { type DeadLetter, noDestination, parseDeadLetter } from '../delivery/parse-dead-letter.ts'
import type { Event } from '../message/event.ts'
import { isoOf } from '../message/timestamp.ts'
import type { LogRecord, RecordHeaders } from '../ports.ts'
import { eventViewOf } from './event-view.ts'
import type { ReplayPreview } from './replay-preview-of-dead-letter.ts'

/** The position of a record in Kafka. */
export interface RecordPosition {
  readonly topic: string
  readonly partition: number
  readonly offset: number
}

/** A dead letter as the operator API shows it. It contains no body, no URL and no user id. */
export interface DeadLetterView {
  readonly key: string
  /** When the record was dead-lettered; ISO 8601, UTC. */
  readonly at: string
  /** The id of the destination; `-` for an event that never became a delivery. */
  readonly destination: string
  readonly reason: string
  /** The first entry of `outcomes`. */
  readonly outcome?: string | undefined
  /** The last outcome of each webhook, or the code with which the event was rejected. */
  readonly outcomes: readonly string[]
  readonly messageId?: string | undefined
  readonly sourceId?: string | undefined
  readonly type?: string | undefined
  readonly attempts?: number | undefined
  /**
   * The number of replays of the delivery before this dead letter. A resend counts as the first
   * replay.
   */
  readonly round: number
  /** The position of the event; `undefined` when unknown. */
  readonly position?: RecordPosition | undefined
}

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
  position: deadLetter.origin && positionOf(deadLetter.origin),
})

export const positionOf = ({ topic, partition, offset }: RecordPosition): RecordPosition => ({
  topic,
  partition,
  offset,
})

/** A dead letter with all fields of its record. */
export interface DeadLetterDetails extends DeadLetterView {
  readonly startedAt?: string | undefined
  readonly deadline?: string | undefined
  /** Full length of the event in bytes, if the dead letter has only its beginning. */
  readonly originalLength?: number | undefined
  /**
   * The headers of the dead letter's record. They include the headers of the event, except if the
   * event is truncated (`originalLength`). Only for the role `operate`.
   */
  readonly headers?: RecordHeaders
  /** The event. Only for the role `operate`; absent when it cannot be decoded. */
  readonly body?: object | undefined
  /** The event in base64, if it cannot be decoded. Only for the role `operate`. */
  readonly bodyBase64?: string | undefined
  /** What a replay would send now. Only for the role `operate`. */
  readonly replay?: ReplayPreview
}

/**
 * Returns the details of a dead letter. Without `replay`, leaves out headers and event, because the
 * client's role may not see them.
 */
export function deadLetterDetails(
  record: LogRecord,
  event: Event | undefined,
  replay: ReplayPreview | undefined,
): DeadLetterDetails {
  const deadLetter = parseDeadLetter(record)
  const { startedAt, deadline, originalLength } = deadLetter
  const details: DeadLetterDetails = {
    ...deadLetterView(deadLetter, { sourceId: event?.sourceId, type: event?.message.type }),
    startedAt: startedAt && isoOf(startedAt),
    deadline: deadline && isoOf(deadline),
    originalLength,
  }
  if (replay === undefined) return details
  const body = event === undefined ? undefined : eventViewOf(event)
  const bytes = body === undefined ? originalOf(record).value : null
  const encoded = bytes === null ? {} : { bodyBase64: bytes.toString('base64') }
  return { ...details, headers: record.headers, body, ...encoded, replay }
}
