import type { Message, MessageType } from '../message/message.ts'
import { toIsoTimestamp } from '../message/timestamp.ts'
import type { PayloadSettings } from '../settings/settings.ts'
import type { JsonText } from '../units.ts'

type Shape = Pick<PayloadSettings, 'anonymousId'>

/**
 * The request body of a message (A2.1, A4.1): compact JSON, a fixed point of parse and stringify, in the key order of A4.1.
 * The message's free-form parts are such text already, so that they are only put together here.
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
      // A6: exactly these three, and no version (A9.1).
      return `{"type":"delete"${member('userId', message.userId)}${timestamp(message)}}`
  }
}

const start = (type: MessageType): string => `{"version":1,"type":"${type}"`

const end = (message: Message): string => `${timestamp(message)}${context(message)}}`

/** `name` needs no escaping. */
const member = (name: string, value: string | undefined): string =>
  value === undefined ? '' : `,"${name}":${JSON.stringify(value)}`

/** Who did it: the user, else the anonymous id in the user's place; both only where the settings ask for it. */
function user({ userId, anonymousId }: Message, shape: Shape, userKey = 'userId'): string {
  if (userId === undefined) return member('anonymousId', anonymousId)
  return member(userKey, userId) + (shape.anonymousId === 'always' ? member('anonymousId', anonymousId) : '')
}

const traits = (message: Message): string => `,"traits":${message.traits ?? '{}'}`

const timestamp = (message: Message): string => `,"timestamp":"${toIsoTimestamp(message.timestamp)}"`

const context = (message: Message): string => (message.context === undefined ? '' : `,"context":${message.context}`)

/** A page has no other place for its name, and neither a page nor a screen one for its category. */
const properties = (message: Message, name?: string, category?: string): string =>
  `,"properties":${fold(fold(message.properties ?? '{}', 'name', name), 'category', category)}`

const screenProperties = (message: Message): string =>
  message.properties === undefined && message.category === undefined
    ? ''
    : properties(message, undefined, message.category)

/** Puts a member at the end of an object's text, unless the object has one of that name that is not null. */
function fold(object: string, name: 'name' | 'category', value: string | undefined): string {
  if (value === undefined) return object
  // Canonical text writes a key in one way only, so that one not found is not there. Nested ones cost a parse, no more.
  if (!object.includes(`"${name}":`)) return append(object, name, value)
  const { [name]: own, ...others } = JSON.parse(object) as Record<string, unknown>
  return own === undefined || own === null ? append(JSON.stringify(others), name, value) : object
}

const append = (object: string, name: string, value: string): string =>
  `${object.slice(0, -1)}${object === '{}' ? '' : ','}"${name}":${JSON.stringify(value)}}`
