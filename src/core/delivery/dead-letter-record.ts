import type { RejectionCode } from '../message/message.ts'
import type { LogRecord, OutgoingRecord } from '../ports.ts'
import {
  type DeliveryState,
  firstOffsetHeader,
  longestText,
  nullValueHeader,
  originalLengthHeader,
  originKeyHeader,
  othersIn,
  replaceHeaders,
  toHeaders,
} from './delivery-state.ts'
import type { DeadLetterReason } from './outcome.ts'

/**
 * For the dead-letter topic. A record that never became a delivery has nothing to carry, or only the destination and the
 * message id that it names; `code` says what is wrong with an `invalid_message` and stands in `outcomes`.
 */
export function deadLetterRecord(
  record: LogRecord,
  known: Partial<DeliveryState> | undefined,
  reason: DeadLetterReason,
  code?: RejectionCode,
): OutgoingRecord {
  const carried = deadLetterState(record, known, reason, code)
  return {
    key: deadLetterKey(carried),
    value: record.value ?? Buffer.alloc(0),
    headers: {
      ...replaceHeaders(record, carried),
      ...(record.key !== null && { [originKeyHeader]: record.key.toString('latin1') }),
      ...(record.value === null && { [nullValueHeader]: '1' }),
    },
  }
}

/** How much of a value a truncated dead letter keeps. */
const keptBytes = 64 * 1024

/**
 * For the dead-letter topic when it does not take the whole record: our own headers, the first
 * 64 KiB of the value, and its length. The value alone can stand for nothing, so a replay refuses it.
 */
export function truncatedDeadLetter(
  record: LogRecord,
  known: Partial<DeliveryState> | undefined,
  reason: DeadLetterReason,
  code?: RejectionCode,
): OutgoingRecord {
  const { key, unreadBatch } = record
  const value = unreadBatch?.bytes ?? record.value ?? Buffer.alloc(0)
  const carried = deadLetterState(record, shortened(known), reason, code)
  const hasShortKey = key !== null && key.length <= longestText
  return {
    key: deadLetterKey(carried),
    value: value.subarray(0, keptBytes),
    headers: {
      ...toHeaders(carried),
      ...(hasShortKey && { [originKeyHeader]: key.toString('latin1') }),
      ...(unreadBatch !== undefined && { [firstOffsetHeader]: String(unreadBatch.firstOffset) }),
      [originalLengthHeader]: String(unreadBatch?.length ?? value.length),
    },
  }
}

/** The headers without texts of a foreign producer that are longer than any that Hookline writes. */
function shortened(known: Partial<DeliveryState> | undefined): Partial<DeliveryState> | undefined {
  if (known === undefined) return undefined
  const { destination, messageId, firstTrace } = known
  const cut = (text: string | undefined): string | undefined => text?.slice(0, longestText)
  return {
    ...known,
    ...(destination !== undefined && { destination: cut(destination) as string }),
    ...(messageId !== undefined && { messageId: cut(messageId) as string }),
    ...(firstTrace !== undefined && { firstTrace: cut(firstTrace) }),
  }
}

type DeadLetterState = Partial<DeliveryState> & Pick<DeliveryState, 'origin' | 'round' | 'reason'>

function deadLetterState(
  { topic, partition, offset, timestamp }: LogRecord,
  known: Partial<DeliveryState> | undefined,
  reason: DeadLetterReason,
  code: RejectionCode | undefined,
): DeadLetterState {
  return { outcomes: code ?? '', origin: { topic, partition, offset, timestamp }, round: 0, ...known, reason }
}

/** The time of the append keeps it unique when the events topic is created again: its offsets begin at 0 then. */
function deadLetterKey({ destination = '-', origin, round }: DeadLetterState): Buffer {
  const { topic, partition, offset, timestamp } = origin
  return Buffer.from(`${destination}/${topic}/${partition}/${offset}/${timestamp}/${round}`)
}

/** What `deadLetterRecord` was given: the event's own key and bytes, and the headers of others. */
export function originalOf({ value, headers }: LogRecord): Pick<LogRecord, 'key' | 'value' | 'headers'> {
  const key = headers[originKeyHeader]
  return {
    key: key === undefined ? null : Buffer.from(key, 'latin1'),
    value: headers[nullValueHeader] === '1' ? null : value,
    headers: othersIn(headers),
  }
}
