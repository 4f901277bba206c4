import { types } from 'node:util'
import { isObject, type JsonObject } from '../../../src/core/message/json.ts'
import type { CallType } from '../../../src/core/message/message.ts'
import {
  type Identifiers,
  idFields,
  idOf,
  messageIdOf,
  missingIdentifier,
  textOf,
} from '../../../src/core/message/message-ids-and-required-identifiers.ts'
import { maxMessageBytes } from '../../../src/core/message/message-size-limits.ts'
import { isTimestamp, parseTimestamp, toIsoTimestamp } from '../../../src/core/message/timestamp.ts'
import { FieldError, MessageTooLarge } from './errors.ts'
import type { Entry } from './message-queue.ts'

export interface CallDeps {
  readonly now: () => number
  readonly newId: () => string
}

/** Validates a call and serialises it to JSON. @throws FieldError, MessageTooLarge */
export function entryOf(type: CallType, call: unknown, { now, newId }: CallDeps): Entry {
  if (!isObject(call)) throw new FieldError('not_an_object', `Pass an object: ${type}({ userId, … }).`)
  checkNumericIds(call)
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

/** Rejects `NaN` and infinite numbers, which would become the ids `NaN` and `Infinity`. */
function checkNumericIds(call: JsonObject): void {
  for (const field of idFields) {
    const id = call[field]
    if (typeof id === 'number' && !Number.isFinite(id))
      throw new FieldError('non_finite_number', `'${field}' is ${id}: pass a string or a finite number.`)
  }
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

/** Whether a value is an object whose fields `JSON.stringify` would write. */
const isFields = (value: unknown): boolean =>
  isObject(value) && !types.isPromise(value) && !types.isMap(value) && !types.isSet(value) && !types.isDate(value)

/** The fields that `JSON.stringify` would write, also if the object has `toJSON`. */
function fieldsOf(name: 'traits' | 'properties', value: JsonObject): JsonObject {
  if (typeof value['toJSON'] !== 'function') return value
  const written = (JSON.parse(write({ [name]: value })) as JsonObject)[name]
  if (isObject(written)) return written
  throw new FieldError('not_an_object', `'${name}' must be an object.`)
}

const objectFields = ['properties', 'traits', 'context', 'integrations'] as const

/**
 * Rejects values that are not objects, because the collector would ignore them. Moves the `traits`
 * of a page to `properties`.
 */
function objectsOf(type: CallType, call: JsonObject): JsonObject {
  for (const name of objectFields) {
    const value = call[name]
    if (value !== undefined && value !== null && !isFields(value))
      throw new FieldError('not_an_object', `'${name}' must be an object.`)
  }
  const { traits, properties } = call
  if (type !== 'page' || !isObject(traits)) return {}
  if (!isObject(properties)) return { traits: undefined, properties: traits }
  return { traits: undefined, properties: { ...fieldsOf('traits', traits), ...fieldsOf('properties', properties) } }
}

function timestampOf(value: unknown, now: () => number): string {
  if (value === undefined || value === null) return new Date(now()).toISOString()
  const at = types.isDate(value) ? value.getTime() : parseTimestamp(value)
  if (isTimestamp(at)) return toIsoTimestamp(at)
  throw new FieldError(
    'invalid_timestamp',
    "'timestamp' is invalid: pass a Date, or an ISO 8601 time of the years 0001 to 9999 (2015-02-02T10:00:00.000Z).",
  )
}

function write(message: JsonObject): string {
  try {
    return JSON.stringify(message)
  } catch (cause) {
    const name = Object.keys(message).find(key => !canBeWritten(message[key])) ?? 'message'
    // For a circular structure, V8 appends lines with a diagram. Keep only the first line.
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
