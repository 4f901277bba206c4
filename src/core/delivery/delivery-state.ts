import { isCount } from '../message/json.ts'
import type { LogRecord, OutgoingRecord, RecordHeaders, TopicPartition } from '../ports.ts'
import { type DurationMs, durationMs, type EpochMs, epochMs } from '../time.ts'
import { isRefused } from './outcomes-reasons-and-classification.ts'

export interface Origin extends TopicPartition {
  readonly offset: number
  /**
   * The timestamp of the event's original record. If the message has no receive time or no
   * timestamp, Hookline uses this time instead. So all copies of the event in retry topics have the
   * same times.
   */
  readonly timestamp: EpochMs
}

/**
 * The state of a delivery. While the delivery waits in a retry topic or is in the dead-letter
 * topic, the headers of its record have the state.
 */
export interface DeliveryState {
  readonly destination: string
  /** The number of attempts made so far. */
  readonly attempt: number
  /**
   * Number of deferrals so far that count. The higher the number, the longer is the tier (the wait
   * of a retry topic) of the next deferral. A deferral does not count when its cause ends soon,
   * when the destination did not cause it, or when its cause is `not_before` (see `defer`).
   */
  readonly deferrals: number
  /** When the dispatcher first admitted the event. */
  readonly startedAt: EpochMs
  /** The end of the retry window. */
  readonly deadline: EpochMs
  /**
   * Since when the delivery waits because its destination is paused. Set only during this wait, and
   * only if the retry window of the delivery excludes paused time (see `paused-time.ts`).
   */
  readonly pausedAt?: EpochMs | undefined
  /** The paused time so far, in ms, by which the deadline was moved. Absent means 0. */
  readonly pausedFor?: DurationMs | undefined
  /** The time before which no further attempt starts. It does not delay the first attempt. */
  readonly notBefore: EpochMs
  /**
   * Why the delivery waits or was dead-lettered: an outcome, a deferral cause or a dead-letter
   * reason. Empty at first.
   */
  readonly reason: string
  /**
   * The last outcome of each webhook, separated by commas. A webhook that was never called has no
   * entry. The position of an entry does not show its webhook: after an attempt that did not call
   * all webhooks, the order can differ from the configuration. Only the order of the rejections is
   * fixed: the nth rejection belongs to the nth hash in `refusedWebhooks`.
   */
  readonly outcomes: string
  /** The `urlHash` of each webhook that rejected this delivery and is not called again for it. */
  readonly refusedWebhooks: readonly string[]
  /**
   * The topic, partition and offset of the event's record in the events topic, not of its copy in a
   * retry topic. For a replayed event, it is the record that the replay wrote.
   */
  readonly origin: Origin
  /**
   * The number of replays of the delivery. It is already 1 for the first deliveries of a replayed
   * event, and for a resend. The metric `hookline_first_attempt_delay_seconds` includes only
   * deliveries with 0.
   */
  readonly round: number
  readonly messageId: string
  /**
   * The `traceparent` of the first attempt, to which later attempts link. `undefined` when tracing
   * is off. The value comes from a header that other programs can write, so it can be malformed.
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
 * Returns the text of each header except those in `rareHeaders`; numbers are decimal. The function
 * is one object literal, because that is twice as fast as a loop over a table.
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
/** Headers that few deliveries have, so `textsOf` does not contain them. */
const rareHeaders = { firstTrace: 'first-traceparent', pausedAt: 'paused-at', pausedFor: 'paused-for' } as const
/**
 * Header of a dead letter whose event had a null value. The dead letter has an empty value instead,
 * because Kafka treats a null value as a tombstone.
 */
export const nullValueHeader = 'null-value'
/**
 * Header with the event's own key, because a dead letter has another key. It is in Latin-1, which
 * maps each byte to one character and keeps ASCII keys readable.
 */
export const originKeyHeader = 'origin-key'
/**
 * Header of a truncated dead letter: the full length, in bytes, of the value that was cut. The
 * value is the event's, or a compressed batch when `first-offset` is set.
 */
export const originalLengthHeader = 'original-length'
/**
 * Header of a dead letter that is a whole batch of records: the offset of the first record of the
 * batch. The header `origin-offset` then has the offset of the last record.
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

/**
 * Returns the headers of a state, usually less than 1 KiB including their names. Fields that are
 * `undefined` get no header.
 */
export function toHeaders(carried: Partial<DeliveryState>): RecordHeaders {
  const texts: Record<string, string | undefined> = textsOf(carried)
  if (carried.firstTrace !== undefined) texts[rareHeaders.firstTrace] = carried.firstTrace
  if (isWaitingForPause(carried)) texts[rareHeaders.pausedAt] = decimal(carried.pausedAt)
  if (carried.pausedFor !== undefined) texts[rareHeaders.pausedFor] = decimal(carried.pausedFor)
  return hasAll(texts) ? texts : Object.fromEntries(Object.entries(texts).filter(isDefined))
}

/**
 * Whether a delivery waits because its destination is paused. `pausedAt` alone does not show this:
 * when the retry record of a paused delivery is too large, the delivery is dead-lettered. Its state
 * then still has `pausedAt`, but another reason.
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
 * Maximum length of a text in a header, in characters. Hookline's own texts are shorter. Only other
 * programs write longer texts, which would not fit into a truncated dead letter.
 */
export const longestText = 1_000

/**
 * Parses the state in the headers of a record. `undefined` when a header is malformed or a required
 * one is missing. `reason`, `outcomes`, `refused-webhooks` and the rare headers are optional.
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

/**
 * The paused time in the headers of a record. `paused-at` is used only when the reason is `paused`,
 * because earlier versions of Hookline copy this header into records that wait for another reason.
 */
function pausedTimeIn(headers: RecordHeaders): Pick<DeliveryState, 'pausedAt' | 'pausedFor'> {
  const at = headers['reason'] === 'paused' ? integerIn(headers[rareHeaders.pausedAt]) : Number.NaN
  const total = integerIn(headers[rareHeaders.pausedFor])
  return {
    ...(isCount(at) && { pausedAt: epochMs(at) }),
    ...(isCount(total) && { pausedFor: durationMs(total) }),
  }
}

/**
 * Makes the copy of an event's record that is written to a retry topic. The copy has the event's
 * key and value. It may be in another partition than the key determines, because the producer
 * writes records that are deferred together to one partition, in one request.
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
 * Whether a record has headers that are not Hookline's. Few records have any. This check takes less
 * time than filtering the headers.
 */
function hasOthers(headers: RecordHeaders): boolean {
  for (const name in headers) if (!ownHeaders.has(name)) return true
  return false
}

/** The headers that are not Hookline's. */
export function othersIn(headers: RecordHeaders): RecordHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !ownHeaders.has(name)))
}
