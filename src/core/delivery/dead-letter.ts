import { rejectionCodes } from '../message/message.ts'
import type { LogRecord } from '../ports.ts'
import { type EpochMs, epochMs } from '../units.ts'
import { firstOffsetHeader, type Origin, originalLengthHeader } from './delivery-state.ts'
import { type DeadLetterReason, refusedOutcomes, retryableOutcomes } from './outcome.ts'

/** A delivery that was given up, or an event that never became one, as its record tells. */
export interface DeadLetter {
  /** `<destination or ->/<origin topic>/<partition>/<offset>/<timestamp>/<round>`; older ones have no timestamp. */
  readonly key: string
  /** When it was given up. */
  readonly at: EpochMs
  /** Undefined for an event that never became a delivery. */
  readonly destination: string | undefined
  /** A `DeadLetterReason`, unless something else wrote the record; then it may be empty. */
  readonly reason: string
  /** The last one of every webhook, or the rejection code of an `invalid_message`. */
  readonly outcomes: readonly string[]
  readonly messageId: string | undefined
  readonly attempts: number | undefined
  readonly deferrals: number | undefined
  /** When the dispatcher first took the event up. */
  readonly startedAt: EpochMs | undefined
  readonly deadline: EpochMs | undefined
  readonly refusedWebhooks: readonly string[]
  /** The event's own record. */
  readonly origin: Origin | undefined
  /** How often it was replayed before. */
  readonly round: number
  /** The event's own length in bytes, where the record has only the first 64 KiB; undefined: it has all. */
  readonly originalLength: number | undefined
  /** Of a batch that was not unpacked, where `origin` is its last record. */
  readonly firstOffset: number | undefined
}

/** Reads a record of the dead-letter topic. What its headers leave out or garble is undefined: an operator must see it all the same. */
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

/** What stands in the `outcomes` of dead letters. */
export const deadLetterOutcomes = [...retryableOutcomes, ...refusedOutcomes, ...rejectionCodes] as const
export type DeadLetterOutcome = (typeof deadLetterOutcomes)[number]

/** Stands for the destination of dead letters that have none, as in their keys. */
export const noDestination = '-'

/** Which dead letters are meant: those that meet everything that is given. */
export interface DeadLetterFilter {
  /** An id, or `noDestination`. */
  readonly destination?: string | undefined
  readonly reason?: DeadLetterReason | undefined
  /** One of the webhooks' outcomes, or the rejection code. */
  readonly outcome?: DeadLetterOutcome | undefined
  /** Given up at this time or later. */
  readonly since?: EpochMs | undefined
  /** Given up before this time. */
  readonly until?: EpochMs | undefined
  /** Alone: that message for every destination. */
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
 * Which records of the dead-letter topic still stand: the last one of every key, unless its value is null, which says that
 * it was replayed. Offsets are compared within a partition only, where alone they say anything; so a null has to be
 * written to the partition of the record that it takes back.
 */
export class StandingRecords {
  readonly #offsets = new Map<string, number>()

  /** Takes the records of each partition in offset order. */
  note(record: LogRecord): void {
    const id = idOf(record)
    if (id === undefined) return
    if (record.value === null) this.#offsets.delete(id)
    else this.#offsets.set(id, record.offset)
  }

  /** To be asked when all records have been noted. What came later stands as little as what was taken back. */
  has(record: LogRecord): boolean {
    const id = idOf(record)
    return id !== undefined && this.#offsets.get(id) === record.offset
  }

  get size(): number {
    return this.#offsets.size
  }
}

/** Latin-1 keeps different bytes different. Without a key a record can never be taken back: none of ours is so. */
const idOf = ({ partition, key }: LogRecord): string | undefined =>
  key?.toString('latin1').concat('/', String(partition))
