import type { Event } from './event.ts'
import { isObject } from './json.ts'
import { type Message, messageTypes } from './message.ts'
import { isIdOrVersion, isMessageId, tooLongUserId } from './message-ids-and-required-identifiers.ts'
import {
  audiencesSource,
  canarySource,
  factsSource,
  isOwnSource,
  operationsSource,
} from './own-event-builder-and-source-ids.ts'
import { isTimestamp } from './timestamp.ts'

/**
 * Maximum total length of the texts of an event, in UTF-16 units. The texts are the message and its
 * batch (at most 32 KiB each), Hookline's ids and the list of destinations.
 */
const maxTextLength = 256 * 1024
const maxDestinations = 10_000
/** Maximum length of the id of a deletion, and of the name of an audience. */
const maxOriginIdLength = 1_000

const knownTypes: ReadonlySet<string> = new Set(messageTypes)

/**
 * Returns why an event with `canonical: true` cannot be from Hookline; `undefined` if it can. Any
 * program with write access to the events topic can set `canonical`. This function parses each text
 * that a later step parses, so that these steps never throw. It does not parse other texts.
 */
export function forgedCanonicalFault(event: Event): string | undefined {
  const { message, receivedAt, sourceId } = event
  if (!knownTypes.has(message.type)) return `'${message.type.slice(0, 40)}' is not a type of message`
  if (!isMessageId(message.messageId))
    return 'its message id is missing, is too long or has a character outside 0x21-0x7e'
  if (!isTimestamp(message.timestamp))
    return 'its timestamp is not a whole number of milliseconds since 1970, or is outside the years 0001 to 9999'
  if (!isTimestamp(receivedAt))
    return 'its receivedAt is not a whole number of milliseconds since 1970, or is outside the years 0001 to 9999'
  if (textLength(event) > maxTextLength) return `its text fields have more than ${maxTextLength} characters together`
  if (sourceId === '') return 'it has no source id'
  return originFault(event) ?? partFault(event)
}

/**
 * Returns why `origin` is wrong or missing. Events of deletions and audiences must have an
 * `origin`, all other events must not.
 */
function originFault({ sourceId, destinationId, origin, message }: Event): string | undefined {
  const { type, userId } = message
  if (origin === undefined) {
    if (type === 'delete') return "it is a delete message without the field 'origin'"
    if (sourceId === audiencesSource) return `its source is ${sourceId}, but the event has no field 'origin'`
    const name = ownTrackMessages.get(sourceId)
    const isForOne = destinationId !== undefined
    return name === undefined || (type === 'track' && isForOne === (sourceId !== factsSource))
      ? undefined
      : `its source is ${sourceId}, but the event is not ${name}`
  }
  if (userId === undefined) return "it has the field 'origin', but no user id"
  const long = tooLongUserId(userId)
  if (long !== undefined) return `its user id ${long}`
  if (origin.id.length > maxOriginIdLength) return `its 'origin' has an id of more than ${maxOriginIdLength} characters`
  if (origin.kind === 'deletion') {
    if (type !== 'delete') return `its 'origin' has the kind 'deletion', but its message type is '${type}'`
    if (isOwnSource(sourceId))
      return `its 'origin' has the kind 'deletion', but deletions never have the internal source ${sourceId}`
    return (origin.destinations?.length ?? 0) > maxDestinations
      ? `its 'origin' names more than ${maxDestinations} destinations`
      : undefined
  }
  if (origin.kind !== 'audience') return `its 'origin' has the unknown kind '${String(origin.kind).slice(0, 40)}'`
  if (!isIdOrVersion(origin.version)) return "its 'origin' has the kind 'audience', but no valid version"
  const isOfAudience = type === 'identify' && sourceId === audiencesSource && destinationId !== undefined
  return isOfAudience
    ? undefined
    : `its 'origin' has the kind 'audience', but the event is not an identify message from ${audiencesSource} with one destination`
}

/**
 * The sources of track messages that Hookline itself creates. For error texts, each value describes
 * the valid events of its source.
 */
const ownTrackMessages: ReadonlyMap<string, string> = new Map([
  [canarySource, 'a track message with one destination'],
  [operationsSource, 'a track message with one destination'],
  [factsSource, 'a track message without a destination'],
])

function partFault({ message, origin }: Event): string | undefined {
  for (const name of ['properties', 'traits', 'context', 'integrations'] as const) {
    const text = message[name]
    if (text === undefined) continue
    if (!hasBraces(text) || (isParsedLater(name, text, message, origin) && !isJsonObject(text)))
      return `its '${name}' is not a JSON object`
  }
  return undefined
}

const hasBraces = (text: string): boolean => text.charCodeAt(0) === 0x7b && text.charCodeAt(text.length - 1) === 0x7d

/**
 * Whether a later step parses this text. `route` parses integrations, `bodyOf` parses properties,
 * and `reportOf` parses traits.
 */
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

/**
 * Whether a text is a JSON object that can be serialised again: `JSON.stringify` fails on values
 * nested too deeply.
 */
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
