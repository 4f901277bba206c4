import type { JsonText } from '../units.ts'
import { cutJson, type Members, membersIn } from './cut.ts'
import { canonicalJson, isObject, type JsonObject, type Parsed, parseField, parseJson } from './json.ts'
import type { CallType, Rejection } from './message.ts'
import { maxMessageBytes, maxTextLength, textTooLong } from './parts.ts'
import { type Refusal, refusal } from './refusal.ts'

/** Messages of one batch that are accepted at most; the surplus is rejected one by one. */
export const mostMessages = 2_500
/** A body with more is refused whole: an answer that names each of them would be larger than the request. */
export const mostElements = 4 * mostMessages
/** Compact UTF-8 bytes of a batch's own `context` and `integrations` together: they are merged into each message. */
const maxDefaultsBytes = maxMessageBytes
/** Bytes that they add to all messages of the batch together: a body of 100 KB must not become 80 MB of records. */
const maxMergedBytes = 8 * 1_048_576

/**
 * A body whose parts are known and, but for what all of its messages share, not parsed. It holds texts only: no tree of values
 * lives longer than the function that parsed it, however long the request waits for Kafka.
 */
export interface MessageBatch {
  readonly kind: 'batch'
  /** The body's own; undefined when it has none. */
  readonly writeKey: string | undefined
  readonly sentAt: string | number | undefined
  /** Canonical JSON; undefined: the batch has none. */
  readonly context: JsonText | undefined
  readonly integrations: JsonText | undefined
  readonly elements: Elements
}

/** The elements of the batch, which should be messages. */
interface Elements {
  readonly size: number
  /** Parses the element at that position, with its ids as written; its length is checked before. */
  read(index: number): Parsed | Rejection
  /** The same as it came, without white space around it. */
  text(index: number): string
}

/**
 * Reads a request's body: a batch, a list of messages, or one message; exactly one message of that `type` where the path says so.
 * A list is cut into elements, which are parsed one at a time by `takeSome`: a broken one costs the others nothing. Unknown
 * members are passed over. Refused: `invalid_json`, `invalid_body`, `payload_too_large`.
 */
export function readBatch(body: string, type: CallType | undefined): MessageBatch | Refusal {
  if (type !== undefined) return readSingle(body, type)
  const cut = cutJson(body, { list: 'batch', members: [...besideTheList, 'type'], most: mostElements })
  switch (cut.kind) {
    case 'list':
      return batchOf(cut.members, elementsOf(body, cut.elements))
    case 'object':
      return body.length > maxTextLength ? longSingle(body, cut.members) : readSingle(body, undefined)
    case 'too_many':
      return tooManyElements
    default:
      return brokenBody(body) ?? noBatch
  }
}

/**
 * The `writeKey` among the outermost members of a body, found in one linear scan that parses nothing else. The body may be
 * cut off or broken: the last member of that name which is whole counts. Undefined: there is none, or it is no string.
 */
export const writeKeyIn = (body: string): string | undefined => stringIn(membersIn(body, ['writeKey']).get('writeKey'))

function stringIn(text: string | undefined): string | undefined {
  const parsed = text?.startsWith('"') === true ? parseField(text, 'The member') : undefined
  return parsed?.kind === 'parsed' ? (parsed.value as string) || undefined : undefined
}

const besideTheList = ['writeKey', 'sentAt', 'context', 'integrations'] as const

function readSingle(body: string, type: CallType | undefined): MessageBatch | Refusal {
  if (type !== undefined && body.length > maxTextLength) return readLongSingle(body, type)
  let parsed: Parsed | Rejection | undefined = parseJson(body)
  if (parsed.kind === 'rejected') return refusal('invalid_json', parsed.message)
  const { value } = parsed
  if (!isObject(value)) return noMessage
  if (type === undefined && typeof value['type'] !== 'string') return noBatch
  // The type of the path beats that of the message.
  if (type !== undefined && value['type'] !== type) parsed = { kind: 'parsed', value: { ...value, type } }
  const { writeKey } = value
  // What else it has is the message's own, and normalise sees to it.
  return single(typeof writeKey === 'string' ? writeKey : undefined, {
    size: 1,
    read() {
      const once = parsed
      if (once === undefined) throw new TypeError('a message is parsed, and read, once')
      parsed = undefined
      return once
    },
    text: () => body.trim(),
  })
}

/** One message of the type of the path that is too long to be parsed. */
function readLongSingle(body: string, type: CallType): MessageBatch | Refusal {
  const cut = cutJson(body, { members: ['writeKey'], most: 0 })
  if (cut.kind === 'list' || cut.kind === 'too_many') return noMessage
  if (cut.kind !== 'object') return brokenBody(body) ?? noMessage
  return longSingle(body, new Map([...cut.members, ['type', `"${type}"`]]))
}

function longSingle(body: string, members: Members): MessageBatch | Refusal {
  if (members.get('type')?.startsWith('"') !== true) return noBatch
  return single(stringIn(members.get('writeKey')), { size: 1, read: () => textTooLong, text: () => body.trim() })
}

const single = (writeKey: string | undefined, elements: Elements): MessageBatch => ({
  kind: 'batch',
  writeKey: writeKey || undefined,
  sentAt: undefined,
  context: undefined,
  integrations: undefined,
  elements,
})

/** Why a body that cannot be cut is not JSON. Undefined: it is JSON, and a string, number, boolean or null, which makes no tree. */
function brokenBody(body: string): Refusal | undefined {
  if (body.length > maxTextLength && /^\s*[[{]/.test(body)) return refusal('invalid_json', unmatched)
  const parsed = parseField(body, 'The body')
  return parsed.kind === 'rejected' ? refusal('invalid_json', parsed.message) : undefined
}

const unmatched = 'The body is not JSON: one of its lists or objects does not end where it should.'
const noMessage = refusal('invalid_body', 'Send one message: a JSON object.')
const noBatch = refusal('invalid_body', `Send { "batch": [ … ] }, a list of messages, or one message with its 'type'.`)

function elementsOf(body: string, positions: readonly number[]): Elements {
  const text = (index: number): string => body.slice(positions[2 * index], positions[2 * index + 1])
  return {
    size: positions.length / 2,
    read(index) {
      const element = text(index)
      return element.length > maxTextLength ? textTooLong : parseJson(element)
    },
    text: index => text(index).trim(),
  }
}

const tooManyElements = refusal(
  'payload_too_large',
  `The batch has over ${mostElements} messages: send at most ${mostMessages} in one request.`,
)

function batchOf(members: Members, elements: Elements): MessageBatch | Refusal {
  const beside: Record<string, unknown> = {}
  for (const name of besideTheList) {
    const text = members.get(name)
    if (text === undefined) continue
    if (text.length > maxTextLength) {
      if (isDefault(name) && text.startsWith('{')) return defaultsTooLarge(`over ${maxTextLength} characters`)
      continue
    }
    const parsed = parseField(text, shownOf(name))
    if (parsed.kind === 'rejected') return refusal('invalid_json', parsed.message)
    beside[name] = parsed.value
  }
  const { writeKey, sentAt } = beside
  const defaults = defaultsOf(beside, elements.size)
  if (defaults.kind === 'refused') return defaults
  return {
    kind: 'batch',
    writeKey: typeof writeKey === 'string' && writeKey !== '' ? writeKey : undefined,
    sentAt: typeof sentAt === 'string' || typeof sentAt === 'number' ? sentAt : undefined,
    ...defaults.texts,
    elements,
  }
}

type DefaultTexts = Pick<MessageBatch, 'context' | 'integrations'>

const isDefault = (name: string): name is keyof DefaultTexts => name === 'context' || name === 'integrations'
const shownOf = (name: string): string => `'${name}' of the batch`

function defaultsOf(
  beside: JsonObject,
  size: number,
): { readonly kind: 'defaults'; readonly texts: DefaultTexts } | Refusal {
  const texts: { -readonly [name in keyof DefaultTexts]: JsonText | undefined } = {
    context: undefined,
    integrations: undefined,
  }
  let bytes = 0
  for (const name of besideTheList) {
    const value = beside[name]
    if (!isDefault(name) || !isObject(value)) continue
    const canonical = canonicalJson(value, shownOf(name))
    if (canonical.kind === 'rejected') return refusal('invalid_body', canonical.message)
    bytes += Buffer.byteLength(canonical.text)
    texts[name] = canonical.text
  }
  if (bytes > maxDefaultsBytes) return defaultsTooLarge(`${bytes} bytes`)
  const isMergedTooLarge = bytes * Math.min(size, mostMessages) > maxMergedBytes
  return isMergedTooLarge ? mergedTooLarge(bytes, size) : { kind: 'defaults', texts }
}

const defaultsTooLarge = (size: string): Refusal =>
  refusal(
    'payload_too_large',
    `'context' and 'integrations' of the batch have ${size}; at most ${maxDefaultsBytes} bytes are taken, because each message gets them: send less in them.`,
  )

const mergedTooLarge = (bytes: number, size: number): Refusal =>
  refusal(
    'payload_too_large',
    `'context' and 'integrations' of the batch have ${bytes} bytes, and each of its ${size} messages gets them: send less in them, or fewer messages; at most ${maxMergedBytes} bytes may be added to a batch.`,
  )
