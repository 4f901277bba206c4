import { hash } from 'node:crypto'
import { type CallType, type Message, type Rejection, type RejectionCode, rejection } from './message.ts'

/** Fields that identify something: a number in them means its digits. */
export const idFields = ['userId', 'anonymousId', 'groupId', 'previousId', 'messageId'] as const

/** Text that is there; lone surrogates become U+FFFD. Undefined for `""` and for what is not a string. */
export const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value.toWellFormed() : undefined

/** As text, and a number becomes its digits. (`parseJson` has seen to those that no double holds.) */
export const idOf = (value: unknown): string | undefined => textOf(typeof value === 'number' ? String(value) : value)

/** No message can name a longer one: a message takes 32 KiB in all. */
export const maxUserIdBytes = 32 * 1024

/** Undefined: a user id is short enough; else what is wrong with it, after the name of its field. */
export function tooLongUserId(userId: string): string | undefined {
  const bytes = Buffer.byteLength(userId)
  return bytes <= maxUserIdBytes ? undefined : `has ${bytes} bytes, at most ${maxUserIdBytes} are taken`
}

const maxMessageIdLength = 100
/** No space, no control character, ASCII: what any HTTP or Kafka header carries as it is. */
const headerSafe = /^[\x21-\x7e]+$/

/** Whether a text is short and plain enough for the id of a message, whoever gives it. */
export const isMessageId = (text: string): boolean => text.length <= maxMessageIdLength && headerSafe.test(text)

/**
 * The beginnings of ids that only Hookline gives: of membership updates, deletes and canary events, and of events that came without
 * an id (their position). A sender that took one first would make receivers drop ours as a duplicate.
 */
const reserved = /^(?:(?:audience|delete)-[0-9a-f]{40}|canary-|[\w.-]+\.events\/\d+\/\d+$)/

/** The sender's message id, as its hash where it is too long, not fit for a header or reserved; a new one where there is none. */
export function messageIdOf(value: unknown, newId: () => string): string {
  const id = idOf(value)
  if (id === undefined) return newId()
  const isFit = isMessageId(id) && !reserved.test(id)
  return isFit ? id : `sha256:${hash('sha256', id)}`
}

/** What says whom or what a message is about. */
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

/** In the order in which they are checked; texts and order are the Go library's. */
const requirements: Readonly<Record<CallType, readonly Requirement[]>> = {
  identify: [someone],
  track: [event, someone],
  page: [someone],
  screen: [someone],
  group: [groupId, someone],
  alias: [userId, previousId],
}

/** The first identifier that a call of this type needs and lacks. */
export function missingIdentifier(type: CallType, identifiers: Identifiers): Rejection | undefined {
  const unmet = requirements[type].find(({ anyOf }) => anyOf.every(field => identifiers[field] === undefined))
  return unmet && rejection(unmet.code, unmet.message)
}
