import { idFields, idOf } from './identifiers.ts'
import type { JsonText } from './json-text.ts'
import { type Rejection, rejection } from './message.ts'
import { membersIn } from './split-json.ts'

export type JsonObject = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Whether a value is a whole number of at least 0 that a `number` holds exactly. */
export const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0

/** The value of a JSON text; `undefined` when the text is not JSON. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The JSON object in a text; `undefined` for anything else. */
export function objectIn(text: string): JsonObject | undefined {
  const value = parsedJson(text)
  return isObject(value) ? value : undefined
}

export interface Parsed {
  readonly kind: 'parsed'
  readonly value: unknown
  /**
   * Bytes by which `value` is longer as JSON than the message: two quotation marks for each id
   * converted to text.
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
 * Returns the parser's error message without the text that V8 may quote, which must not appear in
 * logs or responses.
 */
const reasonOf = (error: SyntaxError): string =>
  error.message.replace(/(?:, )?(?:\.\.\.)?".*"(?:\.\.\.)? is not valid JSON$/su, '') || 'unexpected text'

/**
 * Parses one message. Numbers in its top-level ids become their digits as written, even if a double
 * cannot hold them.
 */
export function parseJson(text: string): Parsed | Rejection {
  const parsed = parseField(text, 'The message')
  if (parsed.kind === 'rejected' || !isObject(parsed.value)) return parsed
  // The value may be changed below, because the parser has just created it.
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
  const parsed = parseJson(`{"${name}":${member}}`)
  return parsed.kind === 'parsed' && isObject(parsed.value) ? idOf(parsed.value[name]) : undefined
}

export interface Canonical {
  readonly kind: 'canonical'
  readonly text: JsonText
  /** Number of `__proto__` members that were removed, for `hookline_dropped_keys_total`. */
  readonly droppedKeys: number
}

/** Maximum depth of nested objects and lists, including the value itself. */
export const maxNesting = 100

/**
 * Serialises a value to compact JSON that `JSON.stringify(JSON.parse(text))` reproduces exactly. So
 * receivers can check the signature after parsing. A rejection message begins with `field`, which
 * must not be a sender's text.
 */
export function canonicalJson(value: unknown, field = 'The value'): Canonical | Rejection {
  switch (inspect(value, 0)) {
    case 'as_is':
      return { kind: 'canonical', text: JSON.stringify(value) as JsonText, droppedKeys: 0 }
    case 'to_rewrite': {
      const tally = { droppedKeys: 0 }
      const text = JSON.stringify(rewrite(value, tally)) ?? 'null'
      return { kind: 'canonical', text: text as JsonText, droppedKeys: tally.droppedKeys }
    }
    case 'too_deep':
      return rejection('too_deep', `${field} is nested more than ${maxNesting} levels deep: flatten it.`)
    case 'non_finite_number':
      return rejection('non_finite_number', `${field} contains a number beyond ±1.8e308: send a string instead.`)
  }
}

type Finding = 'as_is' | 'to_rewrite' | 'too_deep' | 'non_finite_number'

/**
 * Checks, without allocating memory, whether `JSON.stringify` can write the value unchanged, as it
 * can for nearly every message.
 */
function inspect(value: unknown, levels: number): Finding {
  switch (typeof value) {
    case 'string':
      return value.isWellFormed() ? 'as_is' : 'to_rewrite'
    case 'number':
      return Number.isFinite(value) ? 'as_is' : 'non_finite_number'
    case 'boolean':
      return 'as_is'
    case 'object':
      if (value === null) return 'as_is'
      if (levels === maxNesting) return 'too_deep'
      return Array.isArray(value) ? inspectItems(value, levels + 1) : inspectMembers(value as JsonObject, levels + 1)
    default:
      return 'to_rewrite'
  }
}

function inspectItems(items: readonly unknown[], levels: number): Finding {
  let worst: Finding = 'as_is'
  for (let index = 0; index < items.length; index += 1) {
    const finding = inspect(items[index], levels)
    if (finding === 'to_rewrite') worst = finding
    else if (finding !== 'as_is') return finding
  }
  return worst
}

function inspectMembers(object: JsonObject, levels: number): Finding {
  let worst: Finding = 'as_is'
  for (const key in object) {
    if (key === '__proto__') {
      worst = 'to_rewrite'
      continue
    }
    const finding = inspect(object[key], levels)
    if (finding === 'to_rewrite' || !key.isWellFormed()) worst = 'to_rewrite'
    if (finding === 'too_deep' || finding === 'non_finite_number') return finding
  }
  return worst
}

/**
 * Copies a value without `__proto__` members and lone surrogates. Values without a JSON form are
 * handled as in `JSON.stringify`, and a bigint like undefined.
 */
function rewrite(value: unknown, tally: { droppedKeys: number }): unknown {
  if (typeof value === 'string') return value.toWellFormed()
  if (typeof value === 'bigint') return undefined
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return Array.from(value, item => rewrite(item, tally))
  const copy: Record<string, unknown> = {}
  for (const key in value) {
    if (key === '__proto__') tally.droppedKeys += 1
    else copy[key.toWellFormed()] = rewrite((value as JsonObject)[key], tally)
  }
  return copy
}

/** Returns a copy of an object with sorted keys, so that equal objects have the same JSON text. */
export const withSortedKeys = (node: object): object =>
  Object.fromEntries(Object.entries(node).sort(([a], [b]) => (a < b ? -1 : 1)))
