import { hash } from 'node:crypto'
import type { CallType, Message } from './message.ts'
import { type Rejection, type RejectionCode, rejection } from './message-rejection.ts'

/** Fields of a message that contain ids. Hookline converts an id that is a number to text. */
export const idFields = ['userId', 'anonymousId', 'groupId', 'previousId', 'messageId'] as const

/**
 * Returns a non-empty string, with lone surrogates replaced by U+FFFD. `undefined` for other
 * values.
 */
export const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value.toWellFormed() : undefined

/**
 * Returns an id as text; `undefined` unless the value is a non-empty string or a number.
 * `parseMessageText` has already converted large numbers, so that they keep all digits.
 */
export const idOf = (value: unknown): string | undefined => textOf(typeof value === 'number' ? String(value) : value)

/** Maximum bytes of a user id: as many as a whole message may have. */
export const maxUserIdBytes = 32 * 1024

/** Returns why a user id is too long, as a text to print after the name of the field. */
export function tooLongUserId(userId: string): string | undefined {
  const bytes = Buffer.byteLength(userId)
  return bytes <= maxUserIdBytes ? undefined : `has ${bytes} bytes; the limit is ${maxUserIdBytes} bytes`
}

const maxMessageIdLength = 100
/** Printable ASCII without spaces, which is safe in any HTTP or Kafka header. */
const headerSafe = /^[\x21-\x7e]+$/

/** Whether a text is short enough and safe in headers, so that it can be a message id. */
export const isMessageId = (text: string): boolean => text.length <= maxMessageIdLength && headerSafe.test(text)

/**
 * Matches the message ids that only Hookline assigns. If a sender used one of them first, receivers
 * would drop Hookline's message as a duplicate.
 */
const reserved = /^(?:(?:audience|delete|notice)-[0-9a-f]{40}|canary-|[\w.-]+\.events\/\d+\/\d+$)/

const ownCanary = /^canary-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/**
 * Returns the sender's message id, or a new id if the message has none. If the sender's id is too
 * long, unsafe in a header or reserved, returns the hash of this id.
 */
export function messageIdOf(value: unknown, newId: () => string): string {
  const id = idOf(value)
  if (id === undefined) return newId()
  const isFit = isMessageId(id) && !reserved.test(id)
  return isFit ? id : hashOf(id)
}

const hashOf = (id: string): string => `sha256:${hash('sha256', id)}`

/**
 * Returns a message id for an event that has none: the position of its record, or the hash of a
 * position that is too long. Each read of the event yields the same id.
 */
export function messageIdAt(position: {
  readonly topic: string
  readonly partition: number
  readonly offset: number
}): string {
  const { topic, partition, offset } = position
  const id = `${topic}/${partition}/${offset}`
  return isMessageId(id) ? id : hashOf(id)
}

/**
 * Returns the form in which Kafka stores a message id that an operator searches for. Unlike
 * `messageIdOf`, this function does not hash ids that only Hookline assigns.
 */
export function storedMessageId(id: string): string {
  const isStored = isMessageId(id) && (!id.startsWith('canary-') || ownCanary.test(id))
  return isStored ? id : hashOf(id)
}

export type Identifiers = Pick<Message, 'userId' | 'anonymousId' | 'groupId' | 'previousId' | 'event'>

interface Requirement {
  readonly anyOf: readonly (keyof Identifiers)[]
  readonly code: RejectionCode
  readonly message: string
}

const userId: Requirement = { anyOf: ['userId'], code: 'missing_user_id', message: "You must pass a 'userId'." }
const previousId: Requirement = {
  anyOf: ['previousId'],
  code: 'missing_previous_id',
  message: "You must pass a 'previousId'.",
}
const groupId: Requirement = { anyOf: ['groupId'], code: 'missing_group_id', message: "You must pass a 'groupId'." }
const event: Requirement = { anyOf: ['event'], code: 'missing_event', message: "You must pass 'event'." }
const someone: Requirement = {
  anyOf: ['userId', 'anonymousId'],
  code: 'missing_id',
  message: "You must pass either an 'anonymousId' or 'userId'.",
}

/**
 * Required identifiers, in the order of their checks. Error messages and order follow Segment's Go
 * library.
 */
const requirements: Readonly<Record<CallType, readonly Requirement[]>> = {
  identify: [someone],
  track: [event, someone],
  page: [someone],
  screen: [someone],
  group: [groupId, someone],
  alias: [userId, previousId],
}

export function missingIdentifier(type: CallType, identifiers: Identifiers): Rejection | undefined {
  const unmet = requirements[type].find(({ anyOf }) => anyOf.every(field => identifiers[field] === undefined))
  return unmet && rejection(unmet.code, unmet.message)
}

/**
 * Whether a value can be a sync id or the version of a membership. 2^52 leaves room for later
 * versions: the Avro library rejects integers above 2^53.
 */
export const isIdOrVersion = (value: unknown): boolean =>
  Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= 2 ** 52
