import type { LogRecord } from '../ports.ts'
import { type EpochMs, epochMs } from '../time.ts'
import { firstOffsetHeader, type Origin, originalLengthHeader } from './delivery-state.ts'

/**
 * A delivery that was dead-lettered, or an event that was dead-lettered before it became a
 * delivery.
 */
export interface DeadLetter {
  /**
   * The record key: `<destination or ->/<origin topic>/<partition>/<offset>/<timestamp>/<round>`.
   * Keys of old versions of Hookline have no timestamp.
   */
  readonly key: string
  /** When the delivery or event was dead-lettered. */
  readonly at: EpochMs
  /** `undefined` for an event that never became a delivery. */
  readonly destination: string | undefined
  /** The `DeadLetterReason`. If another program wrote the record, it may be any text, or empty. */
  readonly reason: string
  /** The last outcome of each webhook, or the rejection code of an `invalid_message`. */
  readonly outcomes: readonly string[]
  readonly messageId: string | undefined
  readonly attempts: number | undefined
  readonly deferrals: number | undefined
  /** When the dispatcher first admitted the event. */
  readonly startedAt: EpochMs | undefined
  readonly deadline: EpochMs | undefined
  readonly refusedWebhooks: readonly string[]
  /** The position of the event's record in the events topic, not of its copy in a retry topic. */
  readonly origin: Origin | undefined
  /** How often the delivery was replayed before it was dead-lettered this time. */
  readonly round: number
  /** The full length of the value in bytes, if the dead letter keeps only its first 64 KiB. */
  readonly originalLength: number | undefined
  /**
   * Only for a batch of unreadable records: the offset of its first record. `origin` has the last
   * offset.
   */
  readonly firstOffset: number | undefined
}

/**
 * Parses a dead letter. Ignores malformed headers, because another program may have written the
 * record.
 */
export function parseDeadLetter(record: LogRecord): DeadLetter {
  const { headers } = record
  const text = (name: string): string | undefined => headers[name] || undefined
  const list = (name: string): readonly string[] => headers[name]?.split(',').filter(Boolean) ?? []
  const integer = (name: string): number | undefined =>
    /^-?\d{1,15}$/.test(headers[name] ?? '') ? Number(headers[name]) : undefined
  const time = (name: string): EpochMs | undefined => integer(name) as EpochMs | undefined
  const topic = text('origin-topic')
  const partition = integer('origin-partition')
  const offset = integer('origin-offset')
  const timestamp = time('origin-timestamp') ?? record.timestamp
  return {
    key: record.key?.toString() ?? '',
    at: record.timestamp,
    destination: text('destination'),
    reason: text('reason') ?? '',
    outcomes: list('outcomes'),
    messageId: text('message-id'),
    attempts: integer('attempt'),
    deferrals: integer('deferrals'),
    startedAt: time('started-at'),
    deadline: time('deadline'),
    refusedWebhooks: list('refused-webhooks'),
    origin:
      topic === undefined || partition === undefined || offset === undefined
        ? undefined
        : { topic, partition, offset, timestamp: epochMs(timestamp) },
    round: integer('round') ?? 0,
    originalLength: integer(originalLengthHeader),
    firstOffset: integer(firstOffsetHeader),
  }
}

/** The text in place of a destination id for a dead letter without a destination. */
export const noDestination = '-'
