import { type Refusal, type RejectedMessage, refusal } from '../tracking-api.ts'
import type { EpochMs } from '../units.ts'
import { type CutOutcome, cutBatch } from './cut.ts'
import { idFields, idOf } from './identifiers.ts'
import { canonicalJson, isObject, type JsonObject, type Parsed, parseField, parseJson } from './json.ts'
import { type CallType, type Message, type Rejection, rejection } from './message.ts'
import { normalise } from './normalise.ts'
import { type BatchDefaults, maxMessageBytes } from './parts.ts'

/** Of one batch so many are taken; the surplus is rejected one by one. */
export const mostMessages = 2_500
/** A body with more is refused whole: telling of each that it is too many would make an answer larger than the request. */
export const mostElements = 4 * mostMessages
/** Compact UTF-8 bytes of a batch's own `context` and `integrations` together: they are merged into each message. */
const maxDefaultsBytes = maxMessageBytes

/** What a body holds, before anything is said about its messages. */
export interface Batch extends BatchDefaults {
  readonly kind: 'batch'
  /** The body's own; undefined when it has none. */
  readonly writeKey: string | undefined
  readonly sentAt: unknown
  readonly elements: Elements
}

/** What stands where messages should. */
interface Elements {
  readonly size: number
  /** The element at that position, with its ids as written. */
  read(index: number): Parsed | Rejection
  /** The same as it came, without white space around it. */
  text(index: number): string
}

/**
 * Reads a request's body: a batch, a list of messages, or one message; exactly one message of that `type` where the path says so.
 * When the whole is not JSON, its list is cut into elements, so that only the broken ones are lost. Unknown members are passed
 * over. Refused: `invalid_json`, `invalid_body`, `payload_too_large`.
 */
export function readBatch(body: string, type: CallType | undefined): Batch | Refusal {
  if (type !== undefined) return readSingle(body, type)
  const parsed = parseField(body, 'The body')
  if (parsed.kind === 'rejected') return salvage(body, parsed)
  const { value } = parsed
  if (Array.isArray(value)) return batchOf({}, parsedElements(value, body))
  const list = isObject(value) ? value['batch'] : undefined
  if (isObject(value) && Array.isArray(list)) return batchOf(value, parsedElements(list, body))
  if (isObject(value) && typeof value['type'] === 'string') return readSingle(body, undefined)
  return refusal('invalid_body', `Send { "batch": [ … ] }, a list of messages, or one message with its 'type'.`)
}

function readSingle(body: string, type: CallType | undefined): Batch | Refusal {
  const parsed = parseJson(body)
  if (parsed.kind === 'rejected') return refusal('invalid_json', parsed.message)
  const { value } = parsed
  if (!isObject(value)) return refusal('invalid_body', 'Send one message: a JSON object.')
  // What the path says beats what the message says.
  const message = type === undefined || value['type'] === type ? value : { ...value, type }
  const elements: Elements = { size: 1, read: () => ({ kind: 'parsed', value: message }), text: () => body }
  // What else it has is the message's own, and normalise sees to it.
  return batchOf({ writeKey: value['writeKey'] }, elements)
}

/** Those of a body that is JSON: parsed already, and cut only where a number stands as an id or a text is asked for. */
function parsedElements(values: readonly unknown[], body: string): Elements {
  let cut: Elements | undefined
  const asWritten = (): Elements => {
    cut ??= cutElements(body, cutBody(body))
    if (cut?.size !== values.length) throw new TypeError('a batch that is JSON was not cut where the parser did')
    return cut
  }
  return {
    size: values.length,
    read(index) {
      const value = values[index]
      const hasNumber = isObject(value) && idFields.some(field => typeof value[field] === 'number')
      return hasNumber ? asWritten().read(index) : { kind: 'parsed', value }
    },
    text: index => asWritten().text(index),
  }
}

const besideTheList = ['writeKey', 'sentAt', 'context', 'integrations'] as const

const cutBody = (body: string): CutOutcome =>
  cutBatch(body, { list: 'batch', members: besideTheList, most: mostElements })

function cutElements(body: string, cut: CutOutcome): Elements | undefined {
  if (cut.kind !== 'cut') return undefined
  const { elements } = cut
  const text = (index: number): string => body.slice(elements[2 * index], elements[2 * index + 1])
  return { size: elements.length / 2, read: index => parseJson(text(index)), text: index => text(index).trim() }
}

/** A body that is not JSON as a whole, as `broken` says: only what is outside its elements must be. */
function salvage(body: string, broken: Rejection): Batch | Refusal {
  const cut = cutBody(body)
  if (cut.kind === 'too_many') return tooManyElements
  const elements = cutElements(body, cut)
  if (cut.kind !== 'cut' || elements === undefined) return refusal('invalid_json', broken.message)
  const beside: Record<string, unknown> = {}
  for (const [name, text] of cut.members) {
    const parsed = parseField(text, `'${name}' of the batch`)
    if (parsed.kind === 'rejected') return refusal('invalid_json', parsed.message)
    beside[name] = parsed.value
  }
  return batchOf(beside, elements)
}

const tooManyElements = refusal(
  'payload_too_large',
  `The batch has over ${mostElements} messages: send at most ${mostMessages} in one request.`,
)

function batchOf(beside: JsonObject, elements: Elements): Batch | Refusal {
  if (elements.size > mostElements) return tooManyElements
  const { writeKey, sentAt, context, integrations } = beside
  let bytes = 0
  for (const [name, value] of Object.entries({ context, integrations })) {
    if (!isObject(value)) continue
    const canonical = canonicalJson(value, `'${name}' of the batch`)
    if (canonical.kind === 'rejected') return refusal('invalid_body', canonical.message)
    bytes += Buffer.byteLength(canonical.text)
  }
  if (bytes > maxDefaultsBytes) {
    const advice = `at most ${maxDefaultsBytes} bytes are taken, because each message gets them: send less in them.`
    return refusal('payload_too_large', `'context' and 'integrations' of the batch have ${bytes} bytes; ${advice}`)
  }
  return {
    kind: 'batch',
    writeKey: typeof writeKey === 'string' && writeKey !== '' ? writeKey : undefined,
    sentAt,
    batchContext: context,
    batchIntegrations: integrations,
    elements,
  }
}

export interface TakenBatch {
  /** In the order of the batch. */
  readonly messages: readonly Message[]
  readonly rejected: readonly RejectedMessage[]
  /** How many `__proto__` members were left out. */
  readonly droppedKeys: number
}

/** Normalises each message of a batch, whatever the others are like. */
export function takeBatch(batch: Batch, receivedAt: EpochMs, newId: () => string): TakenBatch {
  const { elements, ...defaults } = batch
  const reception = { ...defaults, receivedAt, newId }
  const messages: Message[] = []
  const rejected: RejectedMessage[] = []
  let droppedKeys = 0
  for (let index = 0; index < elements.size; index += 1) {
    const parsed = elements.read(index)
    const outcome = takeElement(parsed, index)
    if (outcome.kind === 'message') {
      messages.push(outcome.message)
      droppedKeys += outcome.droppedKeys
    } else rejected.push({ index, messageId: givenId(parsed), code: outcome.code, message: outcome.message })
  }
  return { messages, rejected, droppedKeys }

  function takeElement(parsed: Parsed | Rejection, index: number): ReturnType<typeof normalise> {
    if (index >= mostMessages) return tooManyMessages
    return parsed.kind === 'rejected' ? parsed : normalise(parsed.value, reception)
  }
}

const tooManyMessages = rejection('too_many_messages', `Of one batch ${mostMessages} are taken: send it in several.`)

const givenId = (parsed: Parsed | Rejection): string | undefined =>
  parsed.kind === 'parsed' && isObject(parsed.value) ? idOf(parsed.value['messageId']) : undefined
