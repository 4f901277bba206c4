import { types } from 'node:util'
import {
  type Identifiers,
  idOf,
  messageIdOf,
  missingIdentifier,
  textOf,
} from '../../../src/core/message/identifiers.ts'
import { isObject, type JsonObject } from '../../../src/core/message/json.ts'
import type { CallType } from '../../../src/core/message/message.ts'
import { maxMessageBytes } from '../../../src/core/message/parts.ts'
import { isTimestamp, parseTimestamp, toIsoTimestamp } from '../../../src/core/message/timestamp.ts'
import { FieldError, MessageTooLarge } from './errors.ts'
import type { Entry } from './queue.ts'

/** A number or bigint stands for its digits. */
export type Id = string | number | bigint
/** Anything that `JSON.stringify` can write. */
export type Fields = Readonly<Record<string, unknown>>

/** What every call may carry. */
export interface CommonFields {
  /** When it happened; default: now. A number is milliseconds (from 10^11 on) or seconds since 1970. */
  readonly timestamp?: Date | string | number | undefined
  /** Circumstances, such as the device or the IP address; no attributes of the user. */
  readonly context?: Fields | undefined
  /** Which destinations may have the message; `All` is the default for the others. */
  readonly integrations?: Fields | undefined
  /** Default: a new one. What comes twice under one id counts once. */
  readonly messageId?: string | undefined
}

/** Whom the message is about; one of the two is needed. */
export interface UserFields extends CommonFields {
  readonly userId?: Id | undefined
  readonly anonymousId?: Id | undefined
}

export interface Identify extends UserFields {
  readonly traits?: Fields | undefined
}

export interface Track extends UserFields {
  readonly event: string
  readonly properties?: Fields | undefined
}

export interface Screen extends UserFields {
  readonly name?: string | undefined
  readonly category?: string | undefined
  readonly properties?: Fields | undefined
}

export interface Page extends Screen {
  /** Another name of `properties`. */
  readonly traits?: Fields | undefined
}

export interface Group extends UserFields {
  readonly groupId: Id
  readonly traits?: Fields | undefined
}

export interface Alias extends CommonFields {
  /** The new id. */
  readonly userId: Id
  /** The id it replaces. */
  readonly previousId: Id
}

export interface CallDeps {
  readonly now: () => number
  readonly newId: () => string
}

/** Checks a call and writes it, once. Throws `FieldError` or `MessageTooLarge`. */
export function entryOf(type: CallType, call: unknown, { now, newId }: CallDeps): Entry {
  if (!isObject(call)) throw new FieldError('not_an_object', `Pass an object: ${type}({ userId, … }).`)
  const identifiers = identifiersOf(call)
  const missing = missingIdentifier(type, identifiers)
  if (missing !== undefined) throw new FieldError(missing.code, missing.message)
  const messageId = messageIdOf(call['messageId'], newId)
  const timestamp = timestampOf(call['timestamp'], now)
  const message = { ...call, ...objectsOf(type, call), ...identifiers, type, messageId, timestamp }
  const text = write(message)
  const bytes = Buffer.byteLength(text)
  if (bytes > maxMessageBytes) throw new MessageTooLarge(bytes, maxMessageBytes)
  return { messageId, text, bytes }
}

function identifiersOf(call: JsonObject): Identifiers {
  const id = (value: unknown): string | undefined => idOf(typeof value === 'bigint' ? String(value) : value)
  return {
    userId: id(call['userId']),
    anonymousId: id(call['anonymousId']),
    groupId: id(call['groupId']),
    previousId: id(call['previousId']),
    event: textOf(call['event']),
  }
}

const objectFields = ['properties', 'traits', 'context', 'integrations'] as const

/** The free-form parts under the names they are sent by. What is no object would be ignored by the collector. */
function objectsOf(type: CallType, call: JsonObject): JsonObject {
  for (const name of objectFields) {
    const value = call[name]
    if (value !== undefined && value !== null && !isObject(value))
      throw new FieldError('not_an_object', `'${name}' must be an object.`)
  }
  if (type !== 'page' || !isObject(call['traits'])) return {}
  // Page.Traits is another name of the properties (B2.3).
  return { traits: undefined, properties: { ...call['traits'], ...(call['properties'] as JsonObject | undefined) } }
}

function timestampOf(value: unknown, now: () => number): string {
  if (value === undefined || value === null) return new Date(now()).toISOString()
  const at = types.isDate(value) ? value.getTime() : parseTimestamp(value)
  if (isTimestamp(at)) return toIsoTimestamp(at)
  throw new FieldError(
    'invalid_timestamp',
    "'timestamp' is no time: pass a Date, or a date of the years 0001 to 9999 in ISO 8601 (2015-02-02T10:00:00.000Z).",
  )
}

function write(message: JsonObject): string {
  try {
    return JSON.stringify(message)
  } catch (cause) {
    const name = Object.keys(message).find(key => !canBeWritten(message[key])) ?? 'message'
    // V8 draws a picture of a circle in the lines after the first.
    const [reason] = (cause as Error).message.split('\n')
    throw new FieldError('not_serialisable', `'${name}' cannot be written as JSON: ${reason}.`, cause)
  }
}

function canBeWritten(value: unknown): boolean {
  try {
    JSON.stringify(value)
    return true
  } catch {
    return false
  }
}
