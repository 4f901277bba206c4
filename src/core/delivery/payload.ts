import type { JsonText } from '../message/json-text.ts'
import type { Message, MessageType } from '../message/message.ts'
import { toIsoTimestamp } from '../message/timestamp.ts'
import type { PayloadSettings } from '../settings/settings.ts'

type Shape = Pick<PayloadSettings, 'anonymousId'>

/**
 * The request body of a message: compact JSON with the keys in the documented order. It is
 * canonical: `JSON.stringify(JSON.parse(body))` returns the same text. The properties, traits and
 * context of a message already are JSON text in this form, so they are only concatenated here.
 */
export function bodyOf(message: Message, shape: Shape): JsonText {
  return text(message, shape) as JsonText
}

function text(message: Message, shape: Shape): string {
  const { type } = message
  switch (type) {
    case 'page':
      return `${start(type)}${user(message, shape)}${properties(message, message.name, message.category)}${end(message)}`
    case 'screen':
      return `${start(type)}${user(message, shape)}${member('name', message.name)}${screenProperties(message)}${end(message)}`
    case 'identify':
      return `${start(type)}${user(message, shape)}${traits(message)}${end(message)}`
    case 'track':
      return `${start(type)}${user(message, shape)}${member('event', message.event)}${properties(message)}${end(message)}`
    case 'alias':
      return `${start(type)}${member('Previous ID', message.previousId)}${user(message, shape, 'User ID')}${end(message)}`
    case 'group':
      return `${start(type)}${member('groupId', message.groupId)}${user(message, shape)}${traits(message)}${end(message)}`
    case 'delete':
      // The body of a delete message has exactly these three keys; it has no `version`.
      return `{"type":"delete"${member('userId', message.userId)}${timestamp(message)}}`
  }
}

const start = (type: MessageType): string => `{"version":1,"type":"${type}"`

const end = (message: Message): string => `${timestamp(message)}${context(message)}}`

/**
 * Formats a member of a JSON object, with a comma before it. `name` must not need JSON escaping.
 */
const member = (name: string, value: string | undefined): string =>
  value === undefined ? '' : `,"${name}":${JSON.stringify(value)}`

/**
 * Formats the user id, or the anonymous id when there is no user id. A message with a user id gets
 * both when `payload.anonymousId` is `always`.
 */
function user({ userId, anonymousId }: Message, shape: Shape, userKey = 'userId'): string {
  if (userId === undefined) return member('anonymousId', anonymousId)
  return member(userKey, userId) + (shape.anonymousId === 'always' ? member('anonymousId', anonymousId) : '')
}

const traits = (message: Message): string => `,"traits":${message.traits ?? '{}'}`

const timestamp = (message: Message): string => `,"timestamp":"${toIsoTimestamp(message.timestamp)}"`

const context = (message: Message): string => (message.context === undefined ? '' : `,"context":${message.context}`)

/**
 * Formats the `properties`. They include the name of a page, and the category of a page or screen,
 * because the body has no separate keys for these texts.
 */
const properties = (message: Message, name?: string, category?: string): string =>
  `,"properties":${fold(fold(message.properties ?? '{}', 'name', name), 'category', category)}`

const screenProperties = (message: Message): string =>
  message.properties === undefined && message.category === undefined
    ? ''
    : properties(message, undefined, message.category)

/**
 * Appends a key to the JSON text of an object, unless the object already has this key with a value
 * that is not null.
 */
function fold(object: string, name: 'name' | 'category', value: string | undefined): string {
  if (value === undefined) return object
  // Canonical JSON text writes a key in only one way. So if the text does not contain the key, the
  // object does not have it. If the text contains the key, perhaps only a nested object has it. So
  // the object is then parsed.
  if (!object.includes(`"${name}":`)) return append(object, name, value)
  const { [name]: own, ...others } = JSON.parse(object) as Record<string, unknown>
  return own === undefined || own === null ? append(JSON.stringify(others), name, value) : object
}

const append = (object: string, name: string, value: string): string =>
  `${object.slice(0, -1)}${object === '{}' ? '' : ','}"${name}":${JSON.stringify(value)}}`
