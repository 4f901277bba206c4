import type { LogRecord } from '../ports.ts'
import { type EpochMs, epochMs } from '../time.ts'
import { firstOffsetHeader, type Origin, originalLengthHeader } from './delivery-state.ts'

/**
 * A delivery that was dead-lettered, or an event that was dead-lettered before it became a
 * delivery. Parsed from a record of the dead-letter topic.
 */
export interface DeadLetter {
  /**
   * `<destination or ->/<origin topic>/<partition>/<offset>/<timestamp>/<round>`. Keys that old
   * versions wrote have no timestamp.
   */
  readonly key: string
  /** When it was dead-lettered. */
  readonly at: EpochMs
  /** `undefined` for an event that never became a delivery. */
  readonly destination: string | undefined
  /**
   * A `DeadLetterReason`. It may be another text, or empty, when another program wrote the record.
   */
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
  /** The topic, partition and offset of the event's own record. */
  readonly origin: Origin | undefined
  /** How often it was replayed before. */
  readonly round: number
  /**
   * The full length in bytes of a value of which the dead letter keeps only the first 64 KiB: the
   * event's value, or a compressed batch (`firstOffset`). `undefined` when the dead letter keeps
   * the whole value.
   */
  readonly originalLength: number | undefined
  /** The first offset of a batch that could not be read; `origin` is its last offset. */
  readonly firstOffset: number | undefined
}

/**
 * Parses a record of the dead-letter topic. A field is `undefined`, empty or 0 when its header is
 * missing or malformed, so that an operator sees these dead letters too.
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

/** The destination in a filter and in a key when a dead letter has no destination. */
export const noDestination = '-'
