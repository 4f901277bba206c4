import { rejectionCodes } from '../message/message.ts'
import type { LogRecord } from '../ports.ts'
import { type EpochMs, epochMs } from '../units.ts'
import { firstOffsetHeader, type Origin, originalLengthHeader } from './delivery-state.ts'
import { type DeadLetterReason, refusedOutcomes, retryableOutcomes } from './outcome.ts'

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
   * The full length of the event's value in bytes, when the dead letter keeps only its first 64
   * KiB. `undefined` when the dead letter keeps the whole value.
   */
  readonly originalLength: number | undefined
  /** The first offset of a batch that could not be read; `origin` is its last offset. */
  readonly firstOffset: number | undefined
}

/**
 * Parses a record of the dead-letter topic. A field is `undefined` when its header is missing or
 * malformed, so that an operator sees these dead letters too.
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

/** The values that the `outcomes` of a dead letter can have. */
export const deadLetterOutcomes = [...retryableOutcomes, ...refusedOutcomes, ...rejectionCodes] as const
export type DeadLetterOutcome = (typeof deadLetterOutcomes)[number]

/** The destination in a filter and in a key when a dead letter has no destination. */
export const noDestination = '-'

/** Selects dead letters. A dead letter matches when it meets every condition that is given. */
export interface DeadLetterFilter {
  /** The id of a destination, or `noDestination`. */
  readonly destination?: string | undefined
  readonly reason?: DeadLetterReason | undefined
  /** The outcome of one of the webhooks, or a rejection code. */
  readonly outcome?: DeadLetterOutcome | undefined
  /** Dead-lettered at this time or later. */
  readonly since?: EpochMs | undefined
  /** Dead-lettered before this time. */
  readonly until?: EpochMs | undefined
  /** Without `destination`, it selects the message for every destination. */
  readonly messageId?: string | undefined
}

export function matches(deadLetter: DeadLetter, filter: DeadLetterFilter): boolean {
  const { destination, reason, outcome, since, until, messageId } = filter
  return (
    (destination === undefined || destination === (deadLetter.destination ?? noDestination)) &&
    (reason === undefined || reason === deadLetter.reason) &&
    (outcome === undefined || deadLetter.outcomes.includes(outcome)) &&
    (since === undefined || deadLetter.at >= since) &&
    (until === undefined || deadLetter.at < until) &&
    (messageId === undefined || messageId === deadLetter.messageId)
  )
}

/**
 * Finds the live records of the dead-letter topic. A record is live when it is the last one of its
 * key and its value is not null. A null value is a tombstone: the dead letter was replayed. Offsets
 * are compared only within a partition, so a tombstone must be written to the partition of the dead
 * letter.
 */
export class LiveDeadLetters {
  readonly #offsets = new Map<string, number>()

  /** Adds a record. The records of each partition must come in offset order. */
  note(record: LogRecord): void {
    const id = idOf(record)
    if (id === undefined) return
    if (record.value === null) this.#offsets.delete(id)
    else this.#offsets.set(id, record.offset)
  }

  /**
   * Whether a record is live. Call this only after all records were noted; a record that was not
   * noted is not live.
   */
  has(record: LogRecord): boolean {
    const id = idOf(record)
    return id !== undefined && this.#offsets.get(id) === record.offset
  }

  get size(): number {
    return this.#offsets.size
  }
}

/**
 * Latin-1 maps each byte to one character, so different keys stay different. `undefined` for a
 * record without a key: no tombstone can remove it. Hookline writes a key for every dead letter.
 */
const idOf = ({ partition, key }: LogRecord): string | undefined =>
  key?.toString('latin1').concat('/', String(partition))
