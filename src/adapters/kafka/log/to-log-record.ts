import type { LogRecord, RecordHeaders } from '../../../core/ports.ts'
import { epochMs } from '../../../core/time.ts'
import { setOwnProperty } from '../kafkajs/patch-record-decoder.ts'
import type { FetchedMessage } from '../kafkajs/private-api.ts'

const noHeaders: RecordHeaders = Object.freeze({})

/**
 * Converts a fetched message to a record. Copies the key and value: those of kafkajs are views of
 * the whole response, so one slow delivery would keep the whole response in memory.
 */
export function toLogRecord(topic: string, partition: number, message: FetchedMessage): LogRecord {
  return {
    topic,
    partition,
    offset: Number(message.offset),
    timestamp: epochMs(Number(message.timestamp)),
    key: message.key === null ? null : Buffer.from(message.key),
    value: message.value === null ? null : Buffer.from(message.value),
    headers: toHeaderTexts(message.headers),
    ...(message.unreadBatch !== undefined && { unreadBatch: message.unreadBatch }),
  }
}

/** As `toLogRecord`, but without copies. */
export function toLogRecordView(
  topic: string,
  partition: number,
  { offset, timestamp, key, value, headers, unreadBatch }: FetchedMessage,
): LogRecord {
  return {
    topic,
    partition,
    offset: Number(offset),
    timestamp: epochMs(Number(timestamp)),
    key,
    value,
    headers: toHeaderTexts(headers),
    ...(unreadBatch !== undefined && { unreadBatch }),
  }
}

/** Converts header values to text. The last value of a repeated name counts. */
export function toHeaderTexts(headers: FetchedMessage['headers'] = noHeaders): RecordHeaders {
  if (isText(headers)) return headers
  const texts: Record<string, string> = {}
  for (const name in headers) {
    const value = headers[name]
    const last = Array.isArray(value) ? value.at(-1) : value
    setOwnProperty(texts, name, last?.toString() ?? '')
  }
  return texts
}

function isText(headers: NonNullable<FetchedMessage['headers']>): headers is RecordHeaders {
  for (const name in headers) if (typeof headers[name] !== 'string') return false
  return true
}
