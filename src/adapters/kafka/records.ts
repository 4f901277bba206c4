import type { LogRecord, RecordHeaders } from '../../core/ports.ts'
import { epochMs } from '../../core/units.ts'
import type { FetchedMessage } from './internals.ts'
import { setOwn } from './own-property.ts'

const noHeaders: RecordHeaders = Object.freeze({})

/** Copies key and value: the originals are views of the whole fetch, and one slow delivery would hold on to a megabyte. */
export function recordOf(topic: string, partition: number, message: FetchedMessage): LogRecord {
  return {
    topic,
    partition,
    offset: Number(message.offset),
    timestamp: epochMs(Number(message.timestamp)),
    key: message.key === null ? null : Buffer.from(message.key),
    value: message.value === null ? null : Buffer.from(message.value),
    headers: headersOf(message.headers),
    ...(message.unreadBatch !== undefined && { unreadBatch: message.unreadBatch }),
  }
}

/** The same without copies, for those who keep nothing of it. */
export function viewOf(
  topic: string,
  partition: number,
  { offset, timestamp, key, value, headers }: FetchedMessage,
): LogRecord {
  return {
    topic,
    partition,
    offset: Number(offset),
    timestamp: epochMs(Number(timestamp)),
    key,
    value,
    headers: headersOf(headers),
  }
}

/** As text, as which they may have come. A header that was given several times counts with its last value. */
export function headersOf(headers: FetchedMessage['headers'] = noHeaders): RecordHeaders {
  if (isText(headers)) return headers
  const texts: Record<string, string> = {}
  for (const name in headers) {
    const value = headers[name]
    const last = Array.isArray(value) ? value.at(-1) : value
    setOwn(texts, name, last?.toString() ?? '')
  }
  return texts
}

function isText(headers: NonNullable<FetchedMessage['headers']>): headers is RecordHeaders {
  for (const name in headers) if (typeof headers[name] !== 'string') return false
  return true
}
