import { messageIdOf } from '../message/message-ids-and-required-identifiers.ts'
import type { RejectedMessage } from '../message/request-refusal.ts'
import type { OutgoingRecord } from '../ports.ts'
import type { EpochMs } from '../time.ts'

/** Maximum number of UTF-8 bytes that are kept of a rejected message. */
const maxTextBytes = 32_768

/** The value of a record of the rejected topic, as JSON. */
export interface RejectedRecord extends RejectedMessage {
  readonly source: string
  readonly receivedAt: EpochMs
  /**
   * The received message; `rejectedRecord` cuts and masks it. `undefined` when it may contain data
   * of a suppressed user.
   */
  readonly text: string | undefined
}

/** Makes the record for the rejected topic, with the message id, if any, as its key. */
export function rejectedRecord(rejected: RejectedRecord): OutgoingRecord {
  const { source, code, message, index, messageId, receivedAt, text } = rejected
  // The fields are listed one by one, so that the JSON has them in the documented order.
  const value = { source, code, message, index, messageId, receivedAt, text: text && withoutWriteKeys(beginning(text)) }
  return {
    key: messageId === undefined ? null : Buffer.from(messageIdOf(messageId, () => '')),
    value: Buffer.from(JSON.stringify(value)),
    headers: {},
  }
}

/** Masks the values of `writeKey` in a text that may be broken JSON, or cut within the value. */
const withoutWriteKeys = (text: string): string =>
  text.replaceAll(/("writeKey"\s*:\s*)"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?$)/gs, '$1"***"')

/** The first `maxTextBytes` bytes, without a part of a character at the end. */
function beginning(text: string): string {
  // Encodes only as many characters as can be needed: each has at least one byte.
  const bytes = Buffer.from(text.slice(0, maxTextBytes))
  let end = Math.min(bytes.length, maxTextBytes)
  // In UTF-8, bytes of the form 10xxxxxx continue a character.
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1
  return bytes.toString('utf8', 0, end)
}
