import { messageIdOf } from '../message/identifiers.ts'
import type { RejectedMessage } from '../message/refusal.ts'
import type { OutgoingRecord } from '../ports.ts'
import type { EpochMs } from '../units.ts'

/** UTF-8 bytes of a rejected message's text that are kept. */
const maxTextBytes = 32_768

/** What the rejected topic says of a message, as JSON. */
export interface RejectedRecord extends RejectedMessage {
  readonly source: string
  /** Milliseconds since 1970. */
  readonly receivedAt: EpochMs
  /** As it came, cut after 32,768 bytes; undefined: it may tell of a suppressed user, and is not kept. */
  readonly text: string | undefined
}

/** Key: the message's id, where it has one. */
export function rejectedRecord(rejected: RejectedRecord): OutgoingRecord {
  const { source, code, message, index, messageId, receivedAt, text } = rejected
  // Written out, so that the order is that of the documentation.
  const value = { source, code, message, index, messageId, receivedAt, text: text && beginning(text) }
  return {
    key: messageId === undefined ? null : Buffer.from(messageIdOf(messageId, () => '')),
    value: Buffer.from(JSON.stringify(value)),
    headers: {},
  }
}

/** Never half a character. */
function beginning(text: string): string {
  // A character is a byte at least.
  const bytes = Buffer.from(text.slice(0, maxTextBytes))
  let end = Math.min(bytes.length, maxTextBytes)
  // 10xxxxxx: within a character.
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1
  return bytes.toString('utf8', 0, end)
}
