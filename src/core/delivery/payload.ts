import type { JsonText } from '../message/canonical-json-text.ts'
import type { Message, MessageType } from '../message/message.ts'
import { toIsoTimestamp } from '../message/timestamp.ts'
import type { PayloadSettings } from '../settings/settings.ts'

type Shape = Pick<PayloadSettings, 'anonymousId'>

/** The request body of a message: compact JSON with the keys in the documented order. */
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
      // The body of a delete message has exactly these three keys.
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
 * Formats the user id or, without one, the anonymous id. With `payload.anonymousId: always`,
 * formats both ids.
 */
function user({ userId, anonymousId }: Message, shape: Shape, userKey = 'userId'): string {
  if (userId === undefined) return member('anonymousId', anonymousId)
  return member(userKey, userId) + (shape.anonymousId === 'always' ? member('anonymousId', anonymousId) : '')
}

const traits = (message: Message): string => `,"traits":${message.traits ?? '{}'}`

const timestamp = (message: Message): string => `,"timestamp":"${toIsoTimestamp(message.timestamp)}"`

const context = (message: Message): string => (message.context === undefined ? '' : `,"context":${message.context}`)

/** Adds `name` and `category` to the properties, because the body has no keys for them. */
const properties = (message: Message, name?: string, category?: string): string =>
  `,"properties":${fold(fold(message.properties ?? '{}', 'name', name), 'category', category)}`

const screenProperties = (message: Message): string =>
  message.properties === undefined && message.category === undefined
    ? ''
    : properties(message, undefined, message.category)

/** Appends a key to an object's JSON text, unless the object has the key with a non-null value. */
function fold(object: string, name: 'name' | 'category', value: string | undefined): string {
  if (value === undefined) return object
  // Without a match, `object` does not have the key, because canonical JSON text writes a key in
  // only one way. With a match, only parsing shows whether the key is that of a nested object.
  if (!object.includes(`"${name}":`)) return append(object, name, value)
  const { [name]: own, ...others } = JSON.parse(object) as Record<string, unknown>
  return own === undefined || own === null ? append(JSON.stringify(others), name, value) : object
}

const append = (object: string, name: string, value: string): string =>
  `${object.slice(0, -1)}${object === '{}' ? '' : ','}"${name}":${JSON.stringify(value)}}`
