import type { Event } from '../message/event.ts'
import { isMessageId } from '../message/identifiers.ts'
import { isObject } from '../message/json.ts'
import { type Message, messageTypes } from '../message/message.ts'
import { audiencesSource, canarySource, isOwnSource } from '../message/own-event.ts'
import { isTimestamp } from '../message/timestamp.ts'

/**
 * All texts of an event together, in UTF-16 units. A message has 32 KiB at most, what its batch adds
 * another 32 KiB; the rest is room for ids of our own and for lists of destinations.
 */
const maxTextLength = 256 * 1024
const maxDestinations = 10_000

const knownTypes: ReadonlySet<string> = new Set(messageTypes)

/**
 * Why an event that is marked canonical cannot be one that our writers wrote; undefined: it can.
 * The mark is only a field of the record, and anybody who may write to the topic can set it. A full
 * check would cost as much as the delivery, so this looks at what can be seen from outside of the
 * texts, and parses those that later steps parse: none of these steps can throw.
 */
export function canonicalFault(event: Event): string | undefined {
  const { message, receivedAt, sourceId } = event
  if (!knownTypes.has(message.type)) return `'${message.type.slice(0, 40)}' is not a type of message`
  if (!isMessageId(message.messageId))
    return 'its message id is missing, too long or has other characters than 0x21-0x7e'
  if (!isTimestamp(message.timestamp)) return 'its timestamp is out of range'
  if (!isTimestamp(receivedAt)) return 'its receivedAt is out of range'
  if (textLength(event) > maxTextLength) return `its texts are longer than ${maxTextLength} characters together`
  if (sourceId === '') return 'it has no source id'
  return originFault(event) ?? partFault(event)
}

/** Who may say what: deletions and audiences say it with an origin, and with nothing else. */
function originFault({ sourceId, destinationId, origin, message }: Event): string | undefined {
  const { type, userId } = message
  if (origin === undefined) {
    if (type === 'delete') return 'it is a delete without a request'
    if (sourceId === audiencesSource) return `${sourceId} writes nothing without an origin`
    const isHeartbeat = type === 'track' && destinationId !== undefined
    return sourceId === canarySource && !isHeartbeat ? `${sourceId} writes heartbeats only` : undefined
  }
  if (userId === undefined) return 'it has an origin, but no user id'
  if (origin.kind === 'deletion') {
    if (type !== 'delete') return `a deletion is not a ${type}`
    if (isOwnSource(sourceId)) return `${sourceId} deletes nobody`
    return (origin.destinations?.length ?? 0) > maxDestinations ? 'it names too many destinations' : undefined
  }
  if (origin.kind !== 'audience') return `'${String(origin.kind).slice(0, 40)}' is not an origin`
  const isOfAudience = type === 'identify' && sourceId === audiencesSource && destinationId !== undefined
  return isOfAudience ? undefined : 'what an audience says is an identify of its own source for one destination'
}

function partFault({ message, origin }: Event): string | undefined {
  for (const name of ['properties', 'traits', 'context', 'integrations'] as const) {
    const text = message[name]
    if (text === undefined) continue
    if (!hasBraces(text) || (isParsedLater(name, text, message, origin) && !isJsonObject(text)))
      return `its ${name} are not a JSON object`
  }
  return undefined
}

const hasBraces = (text: string): boolean => text.charCodeAt(0) === 0x7b && text.charCodeAt(text.length - 1) === 0x7d

/** As `route` does with integrations, `bodyOf` with properties, `reportOf` with traits. */
function isParsedLater(
  name: 'properties' | 'traits' | 'context' | 'integrations',
  text: string,
  message: Message,
  origin: Event['origin'],
): boolean {
  if (name === 'integrations') return text.includes('false')
  if (name === 'traits') return origin !== undefined
  if (name !== 'properties' || message.type === 'track') return false
  return text.includes('"name":') || text.includes('"category":')
}

/** Bounds the depth: a later step serialises the text, which takes a stack as deep as the text. */
function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) && JSON.stringify(value) !== undefined
  } catch {
    return false
  }
}

function textLength({ sourceId, destinationId, origin, message }: Event): number {
  let length = sourceId.length + lengthOf(destinationId)
  for (const name in message) {
    const value = message[name as keyof Message]
    if (typeof value === 'string') length += value.length
  }
  if (origin === undefined) return length
  return (origin.destinations ?? []).reduce((sum, id) => sum + id.length, length + origin.id.length)
}

const lengthOf = (text: string | undefined): number => text?.length ?? 0
