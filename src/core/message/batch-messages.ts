import type { EpochMs } from '../units.ts'
import { type MessageBatch, mostMessages } from './batch.ts'
import { idOf } from './identifiers.ts'
import { idIn, isObject, type Parsed } from './json.ts'
import { type Message, type Rejection, rejection } from './message.ts'
import { type Normalised, normalise, type Reception } from './normalise.ts'
import { maxMessageBytes, maxTextLength, readDefaults, textTooLong } from './parts.ts'
import type { RejectedMessage } from './refusal.ts'

/** Characters of work after which `normaliseSome` ends: some milliseconds, whatever the text is. */
export const workAtOnce = 2 * maxMessageBytes
/** The cost of a message beside that of its text, in characters of text. */
const workOfMessage = 64

/** What became of some messages of a batch. */
export interface NormalisedPart {
  /** In the order of the batch. */
  readonly messages: readonly Message[]
  readonly rejected: readonly RejectedMessage[]
  /** How many `__proto__` members were left out. */
  readonly droppedKeys: number
  /** The first element that was not read; `elements.size`: all were. */
  readonly next: number
}

/**
 * Parses and normalises the messages of a batch, each on its own, from the element `from` on, for some milliseconds of work. The caller lets other work run before it asks for more (decision 30).
 */
export function normaliseSome(
  batch: MessageBatch,
  from: number,
  { receivedAt, newId }: { readonly receivedAt: EpochMs; readonly newId: () => string },
): NormalisedPart {
  const { elements, sentAt, context, integrations } = batch
  const reception = { ...readDefaults(context, integrations), sentAt, receivedAt, newId }
  const workOfDefaults = (context?.length ?? 0) + (integrations?.length ?? 0)
  const messages: Message[] = []
  const rejected: RejectedMessage[] = []
  let droppedKeys = 0
  let next = from
  for (let work = 0; next < elements.size && work < workAtOnce; next += 1) {
    const parsed = elements.read(next)
    const text = elements.text(next)
    const outcome = next < mostMessages ? normaliseParsed(parsed, reception) : tooManyMessages
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
  parsed.kind === 'rejected' ? parsed : normalise(parsed.value, reception)

function messageIdOf(parsed: Parsed | Rejection, text: string): string | undefined {
  // Looks no further than a message may be long: the id of a rejected message is worth no more work.
  if (parsed === textTooLong) return idIn(text.slice(0, maxTextLength), 'messageId')
  return parsed.kind === 'parsed' && isObject(parsed.value) ? idOf(parsed.value['messageId']) : undefined
}

const tooManyMessages = rejection('too_many_messages', `Of one batch ${mostMessages} are taken: send it in several.`)
