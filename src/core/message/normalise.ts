import type { EpochMs } from '../time.ts'
import { type BatchDefaults, partsOf } from './free-form-message-parts.ts'
import { isObject, type JsonObject } from './json.ts'
import { type CallType, callTypes, type Message } from './message.ts'
import { idOf, messageIdOf, missingIdentifier, textOf } from './message-ids-and-required-identifiers.ts'
import { type Rejection, rejection } from './message-rejection.ts'
import { correctSkew, parseTimestamp } from './timestamp.ts'

/** How a message was received. */
export interface Reception extends BatchDefaults {
  /** The type in the path of the request. It overrides the `type` of the message. */
  readonly type?: CallType | undefined
  readonly receivedAt: EpochMs
  /** `sentAt` of the batch, for messages without a `sentAt`. */
  readonly sentAt: unknown
  /** Creates the id of a message that has none. */
  readonly newId: () => string
}

export interface Normalised {
  readonly kind: 'message'
  readonly message: Message
  /** Number of `__proto__` members that were removed from the message. */
  readonly droppedKeys: number
}

/**
 * Converts a message of any SDK to the stored form, or rejects it. `input` must come from
 * `parseMessageText`, because otherwise large numeric ids lose digits.
 */
export function normalise(input: unknown, reception: Reception, addedBytes = 0): Normalised | Rejection {
  if (!isObject(input)) return rejection('not_an_object', 'A message must be a JSON object: send { "type": …, … }.')
  const givenType = reception.type ?? input['type']
  const type = callTypes.find(callType => callType === givenType)
  if (type === undefined) return rejection('unknown_type', `'type' must be one of ${callTypes.join(', ')}.`)
  const identifiers = {
    userId: idOf(input['userId']),
    anonymousId: idOf(input['anonymousId']),
    groupId: idOf(input['groupId']),
    previousId: idOf(input['previousId']),
    event: textOf(input['event']),
  }
  const missing = missingIdentifier(type, identifiers)
  if (missing !== undefined) return missing
  const timestamp = timestampOf(input, reception)
  if (typeof timestamp === 'object') return timestamp
  const parts = partsOf(type, input, reception, addedBytes)
  if (parts.kind === 'rejected') return parts
  const message: Message = {
    type,
    messageId: messageIdOf(input['messageId'], reception.newId),
    userId: identifiers.userId,
    anonymousId: identifiers.anonymousId,
    groupId: identifiers.groupId,
    previousId: identifiers.previousId,
    event: identifiers.event,
    name: textOf(input['name']),
    category: textOf(input['category']),
    timestamp,
    properties: parts.texts.properties,
    traits: parts.texts.traits,
    context: parts.texts.context,
    integrations: parts.texts.integrations,
  }
  return { kind: 'message', message, droppedKeys: parts.droppedKeys }
}

function timestampOf(input: JsonObject, { receivedAt, sentAt }: Reception): EpochMs | Rejection {
  // RudderStack's Node and Go libraries send only `originalTimestamp`.
  const field = isAbsent(input['timestamp']) ? 'originalTimestamp' : 'timestamp'
  const given = input[field]
  if (isAbsent(given)) return receivedAt
  const timestamp = parseTimestamp(given)
  if (timestamp === undefined)
    return rejection('invalid_timestamp', `'${field}' is not a valid time. ${timestampForms}`)
  return correctSkew({ timestamp, sentAt: parseTimestamp(input['sentAt']) ?? parseTimestamp(sentAt), receivedAt })
}

const isAbsent = (value: unknown): boolean => value === undefined || value === null

const timestampForms =
  'Send a date of the years 0001 to 9999 in ISO 8601 (2015-02-02T10:00:00.000Z), or a number of milliseconds or seconds since 1970.'
