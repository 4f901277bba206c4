import type { RejectionCode } from '../message/message-rejection.ts'
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
import type { DeadLetterReason } from './outcomes-reasons-and-classification.ts'

/**
 * Creates the record of a dead letter. `state` is the state of the delivery. For an event that
 * never became a delivery, the state is missing or incomplete. `code` goes into the header
 * `outcomes`.
 */
export function deadLetterRecord(
  record: LogRecord,
  state: Partial<DeliveryState> | undefined,
  reason: DeadLetterReason,
  code?: RejectionCode,
): OutgoingRecord {
  const carried = deadLetterState(record, state, reason, code)
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

const keptBytes = 64 * 1024

/** A shorter record for a dead letter that is too large for the topic. It cannot be replayed. */
export function truncatedDeadLetter(
  record: LogRecord,
  state: Partial<DeliveryState> | undefined,
  reason: DeadLetterReason,
  code?: RejectionCode,
): OutgoingRecord {
  const { key, unreadBatch } = record
  const value = unreadBatch?.bytes ?? record.value ?? Buffer.alloc(0)
  const carried = deadLetterState(record, shortened(state), reason, code)
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

/**
 * Shortens the texts of a state for a truncated dead letter. Hookline itself never writes texts
 * longer than `longestText`, but another program can.
 */
function shortened(state: Partial<DeliveryState> | undefined): Partial<DeliveryState> | undefined {
  if (state === undefined) return undefined
  const { destination, messageId, firstTrace } = state
  const cut = (text: string | undefined): string | undefined => text?.slice(0, longestText)
  return {
    ...state,
    ...(destination !== undefined && { destination: cut(destination) as string }),
    ...(messageId !== undefined && { messageId: cut(messageId) as string }),
    ...(firstTrace !== undefined && { firstTrace: cut(firstTrace) }),
  }
}

type DeadLetterState = Partial<DeliveryState> & Pick<DeliveryState, 'origin' | 'round' | 'reason'>

function deadLetterState(
  { topic, partition, offset, timestamp }: LogRecord,
  state: Partial<DeliveryState> | undefined,
  reason: DeadLetterReason,
  code: RejectionCode | undefined,
): DeadLetterState {
  return { outcomes: code ?? '', origin: { topic, partition, offset, timestamp }, round: 0, ...state, reason }
}

/**
 * Returns the key of a dead letter. The timestamp keeps the key unique after the events topic is
 * deleted and created again.
 */
function deadLetterKey({ destination = '-', origin, round }: DeadLetterState): Buffer {
  const { topic, partition, offset, timestamp } = origin
  return Buffer.from(`${destination}/${topic}/${partition}/${offset}/${timestamp}/${round}`)
}

/**
 * Reverses `deadLetterRecord`: returns the key and value of the original event, and the headers
 * that are not Hookline's.
 */
export function originalOf({ value, headers }: LogRecord): Pick<LogRecord, 'key' | 'value' | 'headers'> {
  const key = headers[originKeyHeader]
  return {
    key: key === undefined ? null : Buffer.from(key, 'latin1'),
    value: headers[nullValueHeader] === '1' ? null : value,
    headers: othersIn(headers),
  }
}
