import { isObject } from './json.ts'
import { idFields, idOf } from './message-ids-and-required-identifiers.ts'
import { type Rejection, rejection } from './message-rejection.ts'
import { membersIn } from './split-json.ts'

export interface Parsed {
  readonly kind: 'parsed'
  readonly value: unknown
  /**
   * Bytes that Hookline adds to the message's JSON when it converts numeric ids to text: two
   * quotation marks for each of these ids.
   */
  readonly addedBytes?: number
}

/** Parses a JSON text. The message of a rejection begins with `field`, the name of the text. */
export function parseField(text: string, field: string): Parsed | Rejection {
  try {
    return { kind: 'parsed', value: JSON.parse(text) }
  } catch (cause) {
    return rejection('invalid_json', `${field} is not JSON: ${reasonOf(cause as SyntaxError)}.`)
  }
}

/**
 * Returns the parser's error message without the input that V8 may quote: the input must not appear
 * in logs or responses.
 */
const reasonOf = (error: SyntaxError): string =>
  error.message.replace(/(?:, )?(?:\.\.\.)?".*"(?:\.\.\.)? is not valid JSON$/su, '') || 'unexpected text'

/**
 * Parses one message. A top-level id that is a number becomes text with all its digits, even if a
 * double cannot hold the number.
 */
export function parseMessageText(text: string): Parsed | Rejection {
  const parsed = parseField(text, 'The message')
  if (parsed.kind === 'rejected' || !isObject(parsed.value)) return parsed
  // It is safe to change `value` below: the parser has just created it, and no other code refers to
  // it.
  const value = parsed.value as Record<string, unknown>
  const numbers = idFields.filter(field => typeof value[field] === 'number')
  if (numbers.length === 0) return parsed
  // `JSON.parse` rounds large numbers. A reviver could read their digits, but would be a hundred
  // times slower.
  const written = membersIn(text, numbers)
  for (const field of numbers) value[field] = written.get(field)?.trim()
  return { kind: 'parsed', value, addedBytes: 2 * numbers.length }
}

/**
 * Finds a top-level id in the text of a message, even if the text is broken or too long to be
 * parsed.
 */
export function idIn(text: string, name: (typeof idFields)[number]): string | undefined {
  const member = membersIn(text, [name]).get(name)
  if (member === undefined || !/^["\d-]/.test(member)) return undefined
  const parsed = parseMessageText(`{"${name}":${member}}`)
  return parsed.kind === 'parsed' && isObject(parsed.value) ? idOf(parsed.value[name]) : undefined
}
