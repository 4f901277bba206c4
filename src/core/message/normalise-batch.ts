import type { EpochMs } from '../time.ts'
import { type MessageBatch, maxMessages } from './batch.ts'
import { readDefaults } from './free-form-message-parts.ts'
import { isObject } from './json.ts'
import type { Message } from './message.ts'
import { idOf } from './message-ids-and-required-identifiers.ts'
import { type Rejection, rejection } from './message-rejection.ts'
import { maxMessageBytes, maxTextLength, textTooLong } from './message-size-limits.ts'
import { type Normalised, normalise, type Reception } from './normalise.ts'
import { idIn, type Parsed } from './parse-message-json.ts'
import type { RejectedMessage } from './request-refusal.ts'

/**
 * Maximum work of one `normaliseSome` call, in parsed characters: the call may block the event loop
 * only for milliseconds.
 */
export const maxWorkPerCall = 2 * maxMessageBytes
/**
 * Work for one message in addition to its characters, for example to create the object. As in
 * `maxWorkPerCall`, the unit is parsed characters.
 */
const workOfMessage = 64

/** Result of normalising some messages of a batch. */
export interface NormalisedPart {
  /** The normalised messages, in the order of the batch. */
  readonly messages: readonly Message[]
  readonly rejected: readonly RejectedMessage[]
  /** Number of `__proto__` members that were removed from the messages. */
  readonly droppedKeys: number
  /** Index of the first element that was not read; `elements.size` when all were read. */
  readonly next: number
}

/**
 * Normalises messages from element `from` on. Let the event loop run before you continue at `next`
 * (docs/decisions/0030-scan-request-bodies-before-parsing.md).
 */
export function normaliseSome(
  batch: MessageBatch,
  from: number,
  { receivedAt, newId }: { readonly receivedAt: EpochMs; readonly newId: () => string },
): NormalisedPart {
  const { elements, type, sentAt, context, integrations } = batch
  const reception = { ...readDefaults(context, integrations), type, sentAt, receivedAt, newId }
  const workOfDefaults = (context?.length ?? 0) + (integrations?.length ?? 0)
  const messages: Message[] = []
  const rejected: RejectedMessage[] = []
  let droppedKeys = 0
  let next = from
  for (let work = 0; next < elements.size && work < maxWorkPerCall; next += 1) {
    const parsed = elements.read(next)
    const text = elements.text(next)
    const outcome = next < maxMessages ? normaliseParsed(parsed, reception) : tooManyMessages
    if (outcome.kind === 'rejected') {
      const { code, message } = outcome
      rejected.push({ index: next, messageId: messageIdOf(parsed, text), code, message })
    } else {
      messages.push(outcome.message)
      droppedKeys += outcome.droppedKeys
    }
    work += text.length + workOfDefaults + workOfMessage
  }
  return { messages, rejected, droppedKeys, next }
}

const normaliseParsed = (parsed: Parsed | Rejection, reception: Reception): Normalised | Rejection =>
  parsed.kind === 'rejected' ? parsed : normalise(parsed.value, reception, parsed.addedBytes)

function messageIdOf(parsed: Parsed | Rejection, text: string): string | undefined {
  // Only the start is searched, because `text` can be as long as the whole request body.
  if (parsed === textTooLong) return idIn(text.slice(0, maxTextLength), 'messageId')
  return parsed.kind === 'parsed' && isObject(parsed.value) ? idOf(parsed.value['messageId']) : undefined
}

const tooManyMessages = rejection(
  'too_many_messages',
  `The batch has more than ${maxMessages} messages, and this message comes after the first ${maxMessages}: send it in another batch.`,
)
