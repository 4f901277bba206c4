import type { LogRecord, OutgoingRecord, RecordHeaders, TopicPartition } from '../ports.ts'
import { type DurationMs, type EpochMs, epochMs } from '../units.ts'
import { isRefused } from './outcome.ts'

export interface Origin extends TopicPartition {
  readonly offset: number
  /** The record's own: what a foreign producer left out is taken from it, the same whenever a parked copy is read. */
  readonly timestamp: EpochMs
}

/** What a delivery takes along through retry and dead-letter topics, in the headers of its record. */
export interface DeliveryState {
  readonly destination: string
  /** Attempts made so far. */
  readonly attempt: number
  /** How often it was put off without an attempt; waiting for `notBefore` or for the end of a probe is not counted. */
  readonly deferrals: number
  /** When the dispatcher first took the event up. */
  readonly startedAt: EpochMs
  /** The end of the retry window (A7). */
  readonly deadline: EpochMs
  /** No attempt before this. */
  readonly notBefore: EpochMs
  /** Why it waits, or ended: an outcome, a deferral cause or a dead-letter reason. Empty at first. */
  readonly reason: string
  /**
   * The last outcome of every webhook, a comma list in configuration order, without those that were never called. Those
   * that refused keep their place: the nth refusal here is of the nth hash in `refusedWebhooks`.
   */
  readonly outcomes: string
  /** `urlHash` of webhooks that are not called again for this delivery. */
  readonly refusedWebhooks: readonly string[]
  /** The event's own record. */
  readonly origin: Origin
  /** How often it was replayed. */
  readonly round: number
  readonly messageId: string
  /** The `traceparent` of the first attempt, which those that follow name; undefined without traces. May be anything. */
  readonly firstTrace?: string | undefined
}

const none: readonly string[] = []

/** For an event that is taken up for the first time: its window starts now. */
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

/** The headers but one, and what stands in each: text, or a number as decimal text. To set them one by one from a table takes twice as long. */
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
/** Few deliveries have it. */
const firstTraceHeader = 'first-traceparent'
/** Marks a dead letter whose event was null: a null value would delete the dead letter. */
export const nullValueHeader = 'null-value'
/** The event's own key, for a dead letter has another. Latin-1 keeps different bytes different, and ASCII readable. */
export const originKeyHeader = 'origin-key'
/**
 * On a truncated dead letter: the whole length in bytes of the value that it has the beginning of.
 * That is the event's value, or a compressed batch when `first-offset` is there.
 */
export const originalLengthHeader = 'original-length'
/** The first offset of a batch that stands on the dead-letter topic as one record; `origin-offset` is its last. */
export const firstOffsetHeader = 'first-offset'
const ownHeaders = new Set([
  ...Object.keys(textsOf({})),
  firstTraceHeader,
  nullValueHeader,
  originKeyHeader,
  originalLengthHeader,
  firstOffsetHeader,
])

/** Under 1 KiB together, names included. What is undefined is left out. */
export function toHeaders(carried: Partial<DeliveryState>): RecordHeaders {
  const texts: Record<string, string | undefined> = textsOf(carried)
  if (carried.firstTrace !== undefined) texts[firstTraceHeader] = carried.firstTrace
  return hasAll(texts) ? texts : Object.fromEntries(Object.entries(texts).filter(isDefined))
}

function hasAll(texts: Readonly<Record<string, string | undefined>>): texts is RecordHeaders {
  for (const name in texts) if (texts[name] === undefined) return false
  return true
}

const isDefined = (entry: readonly [string, string | undefined]): entry is [string, string] => entry[1] !== undefined

const integerIn = (text: string | undefined): number =>
  text !== undefined && /^-?\d{1,16}$/.test(text) ? Number(text) : Number.NaN

/** Ours are shorter. Longer ones would not fit into a truncated dead letter. */
export const longestText = 1_000

/** Undefined: a header is missing or malformed. */
export function parseDeliveryState(headers: RecordHeaders): DeliveryState | undefined {
  const carried: DeliveryState = {
    destination: headers['destination'] ?? '',
    attempt: integerIn(headers['attempt']),
    deferrals: integerIn(headers['deferrals']),
    startedAt: epochMs(integerIn(headers['started-at'])),
    deadline: epochMs(integerIn(headers['deadline'])),
    notBefore: epochMs(integerIn(headers['not-before'])),
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
    ...(headers[firstTraceHeader] !== undefined && { firstTrace: headers[firstTraceHeader] }),
  }
  const { attempt, deferrals, startedAt, deadline, notBefore, round, origin } = carried
  const counts = [attempt, deferrals, startedAt, deadline, notBefore, round, origin.partition, origin.offset]
  const isWhole =
    [carried.destination, carried.messageId, origin.topic].every(text => text !== '' && text.length <= longestText) &&
    carried.outcomes.length <= longestText &&
    counts.every(count => Number.isSafeInteger(count) && count >= 0) &&
    // Kafka's own mark for no timestamp is -1.
    Number.isSafeInteger(origin.timestamp) &&
    carried.refusedWebhooks.every(hash => /^[0-9a-f]{8}$/.test(hash)) &&
    carried.refusedWebhooks.length <= carried.outcomes.split(',').filter(isRefused).length
  return isWhole ? carried : undefined
}

/** For a retry topic: key and bytes are the event's own. Its partition need not be: those that are parked together go in one request. */
export function retryRecord(record: LogRecord, carried: DeliveryState): OutgoingRecord {
  return { key: record.key, value: record.value, headers: replaceHeaders(record, carried) }
}

/** Headers of others (traces) stay; ours are replaced, never appended to, so that nothing stale remains. */
export function replaceHeaders(record: LogRecord, carried: Partial<DeliveryState>): RecordHeaders {
  const own = toHeaders(carried)
  return hasOthers(record.headers) ? { ...othersIn(record.headers), ...own } : own
}

/** A copy has mostly none: to sort them out takes longer than to see that. */
function hasOthers(headers: RecordHeaders): boolean {
  for (const name in headers) if (!ownHeaders.has(name)) return true
  return false
}

/** The headers that are not ours. */
export function othersIn(headers: RecordHeaders): RecordHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !ownHeaders.has(name)))
}
