import { isCount } from '../message/json.ts'
import type { LogRecord, OutgoingRecord, RecordHeaders, TopicPartition } from '../ports.ts'
import { type DurationMs, durationMs, type EpochMs, epochMs } from '../time.ts'
import { isRefused } from './outcomes-reasons-and-classification.ts'

export interface Origin extends TopicPartition {
  readonly offset: number
  /**
   * The timestamp of the event's original record. It replaces a missing receive time or timestamp
   * of the message.
   */
  readonly timestamp: EpochMs
}

/** The state of a delivery. The headers of retry records and dead letters contain the state. */
export interface DeliveryState {
  readonly destination: string
  /** The number of attempts made so far. */
  readonly attempt: number
  /**
   * Number of deferrals that count (`isDeferralCounted` in `decide.ts`). Each of them makes the
   * wait of the next deferral longer.
   */
  readonly deferrals: number
  /** When the dispatcher first admitted the event. */
  readonly startedAt: EpochMs
  /** The end of the retry window. */
  readonly deadline: EpochMs
  /**
   * Since when the delivery waits for a paused destination; set only if the retry window excludes
   * paused time.
   */
  readonly pausedAt?: EpochMs | undefined
  /** The paused time so far, in ms, by which the deadline was moved. */
  readonly pausedFor?: DurationMs | undefined
  /** The time before which no further attempt starts. It does not delay the first attempt. */
  readonly notBefore: EpochMs
  /**
   * Why the delivery waits or was dead-lettered: an outcome, a deferral cause or a dead-letter
   * reason. Empty at first.
   */
  readonly reason: string
  /**
   * The last outcome of each called webhook, separated by commas. The nth rejection among them
   * belongs to the nth hash in `refusedWebhooks`.
   */
  readonly outcomes: string
  /** The `urlHash` of each webhook that rejected this delivery. */
  readonly refusedWebhooks: readonly string[]
  /**
   * The position of the event's record in the events topic; for a replayed event, of the record
   * that the replay wrote.
   */
  readonly origin: Origin
  /**
   * The number of replays of the delivery. A new delivery has 0, or 1 if its event was replayed or
   * resent.
   */
  readonly round: number
  readonly messageId: string
  /**
   * The `traceparent` of the first attempt. It can be malformed, because other programs can write
   * the header.
   */
  readonly firstTrace?: string | undefined
}

const none: readonly string[] = []

/** The state of a delivery whose event was just admitted. The retry window starts now. */
export function initialState(
  record: Origin,
  destination: string,
  messageId: string,
  now: EpochMs,
  window: DurationMs,
): DeliveryState {
  return {
    destination,
    attempt: 0,
    deferrals: 0,
    startedAt: now,
    deadline: epochMs(now + window),
    notBefore: now,
    reason: '',
    outcomes: '',
    refusedWebhooks: none,
    origin: { topic: record.topic, partition: record.partition, offset: record.offset, timestamp: record.timestamp },
    round: 0,
    messageId,
  }
}

const decimal = (value: number | undefined): string | undefined => (value === undefined ? undefined : String(value))

/**
 * The texts of the headers of a state. An object literal is twice as fast as a loop over a table.
 */
const textsOf = (carried: Partial<DeliveryState>) => ({
  destination: carried.destination,
  attempt: decimal(carried.attempt),
  deferrals: decimal(carried.deferrals),
  'started-at': decimal(carried.startedAt),
  deadline: decimal(carried.deadline),
  'not-before': decimal(carried.notBefore),
  reason: carried.reason,
  outcomes: carried.outcomes,
  'refused-webhooks': carried.refusedWebhooks?.join(','),
  'origin-topic': carried.origin?.topic,
  'origin-partition': decimal(carried.origin?.partition),
  'origin-offset': decimal(carried.origin?.offset),
  'origin-timestamp': decimal(carried.origin?.timestamp),
  round: decimal(carried.round),
  'message-id': carried.messageId,
})
const rareHeaders = { firstTrace: 'first-traceparent', pausedAt: 'paused-at', pausedFor: 'paused-for' } as const
/**
 * The header of a dead letter for a record with a null value. The dead letter has an empty value
 * instead, because Kafka treats a null value as a tombstone.
 */
export const nullValueHeader = 'null-value'
/**
 * The header with the event's own key, because the dead letter has another key. Latin-1 maps each
 * byte of the key to one character.
 */
export const originKeyHeader = 'origin-key'
/**
 * The header with the full length of a truncated value, in bytes. In a dead letter with the header
 * `first-offset`, this value is the encoded records of a whole batch.
 */
export const originalLengthHeader = 'original-length'
/**
 * The header with the offset of a batch's first record, in a dead letter of a whole batch. The
 * header `origin-offset` has the offset of the last record.
 */
export const firstOffsetHeader = 'first-offset'
const ownHeaders = new Set([
  ...Object.keys(textsOf({})),
  ...Object.values(rareHeaders),
  nullValueHeader,
  originKeyHeader,
  originalLengthHeader,
  firstOffsetHeader,
])

/** Returns the headers of a state. Fields that are `undefined` get no header. */
export function toHeaders(carried: Partial<DeliveryState>): RecordHeaders {
  const texts: Record<string, string | undefined> = textsOf(carried)
  if (carried.firstTrace !== undefined) texts[rareHeaders.firstTrace] = carried.firstTrace
  if (isWaitingForPause(carried)) texts[rareHeaders.pausedAt] = decimal(carried.pausedAt)
  if (carried.pausedFor !== undefined) texts[rareHeaders.pausedFor] = decimal(carried.pausedFor)
  return hasAll(texts) ? texts : Object.fromEntries(Object.entries(texts).filter(isDefined))
}

/**
 * Whether a delivery waits for a paused destination. `pausedAt` alone does not show this: it stays
 * set if Hookline dead-letters the delivery because the retry record is too large.
 */
const isWaitingForPause = ({ pausedAt, reason }: Partial<DeliveryState>): boolean =>
  pausedAt !== undefined && reason === 'paused'

function hasAll(texts: Readonly<Record<string, string | undefined>>): texts is RecordHeaders {
  for (const name in texts) if (texts[name] === undefined) return false
  return true
}

const isDefined = (entry: readonly [string, string | undefined]): entry is [string, string] => entry[1] !== undefined

const integerIn = (text: string | undefined): number =>
  text !== undefined && /^-?\d{1,16}$/.test(text) ? Number(text) : Number.NaN

/**
 * Reads `not-before` as a whole number. Earlier versions wrote it with fractions of milliseconds.
 */
const notBeforeIn = (text: string | undefined): EpochMs => epochMs(integerIn(text?.replace(/\.\d{1,9}$/, '')))

/**
 * Maximum characters of a text in a header. Longer texts would not fit into a truncated dead
 * letter.
 */
export const longestText = 1_000

/**
 * Reads a state from headers. Returns `undefined` when a header is malformed or a required one is
 * missing. `reason`, `outcomes`, `refused-webhooks` and `rareHeaders` are optional.
 */
export function parseDeliveryState(headers: RecordHeaders): DeliveryState | undefined {
  const carried: DeliveryState = {
    destination: headers['destination'] ?? '',
    attempt: integerIn(headers['attempt']),
    deferrals: integerIn(headers['deferrals']),
    startedAt: epochMs(integerIn(headers['started-at'])),
    deadline: epochMs(integerIn(headers['deadline'])),
    notBefore: notBeforeIn(headers['not-before']),
    reason: headers['reason'] ?? '',
    outcomes: headers['outcomes'] ?? '',
    refusedWebhooks: headers['refused-webhooks']?.split(',').filter(Boolean) ?? none,
    origin: {
      topic: headers['origin-topic'] ?? '',
      partition: integerIn(headers['origin-partition']),
      offset: integerIn(headers['origin-offset']),
      timestamp: epochMs(integerIn(headers['origin-timestamp'])),
    },
    round: integerIn(headers['round']),
    messageId: headers['message-id'] ?? '',
    ...(headers[rareHeaders.firstTrace] !== undefined && { firstTrace: headers[rareHeaders.firstTrace] }),
    ...pausedTimeIn(headers),
  }
  const { attempt, deferrals, startedAt, deadline, notBefore, round, origin } = carried
  const counts = [attempt, deferrals, startedAt, deadline, notBefore, round, origin.partition, origin.offset]
  const isValid =
    [carried.destination, carried.messageId, origin.topic].every(text => text !== '' && text.length <= longestText) &&
    carried.outcomes.length <= longestText &&
    counts.every(isCount) &&
    // The timestamp may be negative: Kafka uses -1 for a record without a timestamp.
    Number.isSafeInteger(origin.timestamp) &&
    carried.refusedWebhooks.every(hash => /^[0-9a-f]{8}$/.test(hash)) &&
    carried.refusedWebhooks.length <= carried.outcomes.split(',').filter(isRefused).length
  return isValid ? carried : undefined
}

/** Reads `paused-at` only for the reason `paused`: earlier versions copied it to other records. */
function pausedTimeIn(headers: RecordHeaders): Pick<DeliveryState, 'pausedAt' | 'pausedFor'> {
  const at = headers['reason'] === 'paused' ? integerIn(headers[rareHeaders.pausedAt]) : Number.NaN
  const total = integerIn(headers[rareHeaders.pausedFor])
  return {
    ...(isCount(at) && { pausedAt: epochMs(at) }),
    ...(isCount(total) && { pausedFor: durationMs(total) }),
  }
}

/**
 * Makes a retry record: the key and value of `record`, and the state of the delivery in the
 * headers.
 */
export function retryRecord(record: LogRecord, carried: DeliveryState): OutgoingRecord {
  return { key: record.key, value: record.value, headers: replaceHeaders(record, carried) }
}

/** Replaces Hookline's headers and keeps all others, for example those of a trace. */
export function replaceHeaders(record: LogRecord, carried: Partial<DeliveryState>): RecordHeaders {
  const own = toHeaders(carried)
  return hasOthers(record.headers) ? { ...othersIn(record.headers), ...own } : own
}

/**
 * Whether a record has headers that are not Hookline's. This check takes less time than filtering.
 */
function hasOthers(headers: RecordHeaders): boolean {
  for (const name in headers) if (!ownHeaders.has(name)) return true
  return false
}

/** The headers that are not Hookline's. */
export function othersIn(headers: RecordHeaders): RecordHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !ownHeaders.has(name)))
}
