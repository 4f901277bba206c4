import { canonicalJson } from './canonical-json.ts'
import type { JsonText } from './canonical-json-text.ts'
import { isObject, type JsonObject } from './json.ts'
import type { CallType } from './message.ts'
import type { Rejection } from './message-rejection.ts'
import { maxMessageBytes, maxTextLength, textTooLong } from './message-size-limits.ts'
import { type Parsed, parseField, parseMessageText } from './parse-message-json.ts'
import { type Refusal, refusal } from './request-refusal.ts'
import { type Members, membersIn, splitJson } from './split-json.ts'

/** Maximum number of messages of one batch that are accepted. Each further one is rejected. */
export const maxMessages = 2_500
/**
 * A batch with more messages than this is refused as a whole: a response that lists its rejected
 * messages could be larger than the request.
 */
export const maxElements = 4 * maxMessages
/**
 * Maximum size of the batch's `context` and `integrations` together, in bytes of compact UTF-8
 * JSON.
 */
const maxDefaultsBytes = maxMessageBytes
/**
 * Maximum bytes that `context` and `integrations` may add to a batch. Each message gets them:
 * without this limit, 100 KB could become 80 MB.
 */
const maxMergedBytes = 8 * 1_048_576

/**
 * A request body, split into messages. The messages of a list stay unparsed text, to save memory
 * while the request waits.
 */
export interface MessageBatch {
  readonly kind: 'batch'
  /** The type in the path of the request, if any. It overrides the `type` of the message. */
  readonly type: CallType | undefined
  readonly sentAt: string | number | undefined
  readonly context: JsonText | undefined
  readonly integrations: JsonText | undefined
  /** Number of `__proto__` members that were removed from `context` and `integrations`. */
  readonly droppedKeys: number
  readonly elements: Elements
}

interface Elements {
  readonly size: number
  /**
   * Returns the parsed element, or a rejection. If the body is a single message, `readBatch` has
   * parsed it, and the parsed value uses memory until the first `read`. So call `read` in the same
   * tick as `readBatch`.
   * @throws TypeError when a single message is read again
   */
  read(index: number): Parsed | Rejection
  /** Returns the original text of an element, trimmed. */
  text(index: number): string
}

/**
 * Reads a batch object, an array of messages, or a single message. Listed messages are not parsed,
 * so that a broken one does not affect the others.
 */
export function readBatch(body: string, type: CallType | undefined): MessageBatch | Refusal {
  if (type !== undefined) return readSingle(body, type)
  const cut = splitJson(body, { list: 'batch', members: [...sharedMembers, 'type'], maxElements })
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
 * Finds the top-level `writeKey` of a body, even if the body is truncated or broken. If it occurs
 * several times, the last one counts.
 */
export function writeKeyIn(body: string): string | undefined {
  const text = membersIn(body, ['writeKey'], 'batch').get('writeKey')
  const parsed = text?.startsWith('"') === true ? parseField(text, 'The member') : undefined
  return parsed?.kind === 'parsed' ? (parsed.value as string) || undefined : undefined
}

const sharedMembers = ['writeKey', 'sentAt', 'context', 'integrations'] as const

function readSingle(body: string, type: CallType | undefined): MessageBatch | Refusal {
  if (type !== undefined && body.length > maxTextLength) return readLongSingle(body, type)
  let parsed: Parsed | Rejection | undefined = parseMessageText(body)
  if (parsed.kind === 'rejected') return refusal('invalid_json', parsed.message)
  const { value } = parsed
  if (!isObject(value)) return noMessage
  if (type === undefined && typeof value['type'] !== 'string') return noBatch
  return single(type, {
    size: 1,
    read() {
      const once = parsed
      if (once === undefined) throw new TypeError('bug in hookline: the only message of this body was read twice')
      parsed = undefined
      return once
    },
    text: () => body.trim(),
  })
}

/**
 * Reads a body that has one message and is longer than `maxTextLength`, without parsing it. `type`
 * is from the path of the request.
 */
function readLongSingle(body: string, type: CallType): MessageBatch | Refusal {
  const cut = splitJson(body, { members: [], maxElements: 0 })
  if (cut.kind === 'list' || cut.kind === 'too_many') return noMessage
  if (cut.kind !== 'object') return brokenBody(body) ?? noMessage
  return longSingle(body, new Map([['type', `"${type}"`]]))
}

function longSingle(body: string, members: Members): MessageBatch | Refusal {
  if (members.get('type')?.startsWith('"') !== true) return noBatch
  return single(undefined, { size: 1, read: () => textTooLong, text: () => body.trim() })
}

const single = (type: CallType | undefined, elements: Elements): MessageBatch => ({
  kind: 'batch',
  type,
  sentAt: undefined,
  context: undefined,
  integrations: undefined,
  droppedKeys: 0,
  elements,
})

/**
 * Judges a body in which `splitJson` found no complete list or object. Returns a refusal if the
 * body is not JSON, otherwise `undefined`.
 */
function brokenBody(body: string): Refusal | undefined {
  if (body.length > maxTextLength && /^\s*[[{]/.test(body)) return refusal('invalid_json', unmatched)
  const parsed = parseField(body, 'The body')
  return parsed.kind === 'rejected' ? refusal('invalid_json', parsed.message) : undefined
}

const unmatched = 'The body is not JSON: for example, the brackets of a list or an object do not match.'
const noMessage = refusal('invalid_body', 'The body is not a message: send one message as a JSON object.')
const noBatch = refusal(
  'invalid_body',
  `The body is neither a batch nor a message: send { "batch": [ … ] }, a list of messages, or one message with its 'type'.`,
)

function elementsOf(body: string, positions: readonly number[]): Elements {
  const text = (index: number): string => body.slice(positions[2 * index], positions[2 * index + 1])
  return {
    size: positions.length / 2,
    read(index) {
      const element = text(index)
      return element.length > maxTextLength ? textTooLong : parseMessageText(element)
    },
    text: index => text(index).trim(),
  }
}

const tooManyElements = refusal(
  'payload_too_large',
  `The batch has too many messages: send at most ${maxMessages} in one request.`,
)

function batchOf(members: Members, elements: Elements): MessageBatch | Refusal {
  const shared: Record<string, unknown> = {}
  for (const name of sharedMembers) {
    const text = members.get(name)
    if (text === undefined) continue
    if (text.length > maxTextLength) {
      if (isDefault(name) && text.startsWith('{')) return defaultsTooLarge(`more than ${maxTextLength} bytes`)
      continue
    }
    const parsed = parseField(text, shownOf(name))
    if (parsed.kind === 'rejected') return refusal('invalid_json', parsed.message)
    shared[name] = parsed.value
  }
  const { sentAt } = shared
  const defaults = defaultsOf(shared, elements.size)
  if (defaults.kind === 'refused') return defaults
  return {
    kind: 'batch',
    type: undefined,
    sentAt: typeof sentAt === 'string' || typeof sentAt === 'number' ? sentAt : undefined,
    ...defaults.texts,
    droppedKeys: defaults.droppedKeys,
    elements,
  }
}

type DefaultTexts = Pick<MessageBatch, 'context' | 'integrations'>

const isDefault = (name: string): name is keyof DefaultTexts => name === 'context' || name === 'integrations'
const shownOf = (name: string): string => `'${name}' of the batch`

function defaultsOf(
  shared: JsonObject,
  size: number,
): { readonly kind: 'defaults'; readonly texts: DefaultTexts; readonly droppedKeys: number } | Refusal {
  const texts: { -readonly [name in keyof DefaultTexts]: JsonText | undefined } = {
    context: undefined,
    integrations: undefined,
  }
  let bytes = 0
  let droppedKeys = 0
  for (const name of sharedMembers) {
    const value = shared[name]
    if (!isDefault(name) || !isObject(value)) continue
    const canonical = canonicalJson(value, shownOf(name))
    if (canonical.kind === 'rejected') return refusal('invalid_body', canonical.message)
    bytes += Buffer.byteLength(canonical.text)
    droppedKeys += canonical.droppedKeys
    texts[name] = canonical.text
  }
  if (bytes > maxDefaultsBytes) return defaultsTooLarge(`${bytes} bytes`)
  const copies = Math.min(size, maxMessages)
  const isMergedTooLarge = bytes * copies > maxMergedBytes
  return isMergedTooLarge ? mergedTooLarge(bytes, copies) : { kind: 'defaults', texts, droppedKeys }
}

const defaultsTooLarge = (size: string): Refusal =>
  refusal(
    'payload_too_large',
    `'context' and 'integrations' of the batch have ${size}; together they may have at most ${maxDefaultsBytes} bytes, because Hookline copies both into each message: send a smaller 'context' or 'integrations'.`,
  )

const mergedTooLarge = (bytes: number, copies: number): Refusal =>
  refusal(
    'payload_too_large',
    `'context' and 'integrations' of the batch have ${bytes} bytes, and ${copies} messages get a copy of them. All copies together may have at most ${maxMergedBytes} bytes: send a smaller 'context' or 'integrations', or fewer messages.`,
  )
