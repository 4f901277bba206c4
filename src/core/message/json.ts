import type { JsonText } from '../units.ts'
import { membersIn } from './cut.ts'
import { idFields, idOf } from './identifiers.ts'
import { type Rejection, rejection } from './message.ts'

export type JsonObject = Readonly<Record<string, unknown>>

/** Neither null nor a list: the only thing that may stand where an object is meant. */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export interface Parsed {
  readonly kind: 'parsed'
  readonly value: unknown
}

/** Reads JSON text; `invalid_json` naming the `field` that held it. */
export function parseField(text: string, field: string): Parsed | Rejection {
  try {
    return { kind: 'parsed', value: JSON.parse(text) }
  } catch (cause) {
    return rejection('invalid_json', `${field} is not JSON: ${reasonOf(cause as SyntaxError)}.`)
  }
}

/** What is wrong and where. V8 may quote a piece of the text, which is no business of logs and answers. */
const reasonOf = (error: SyntaxError): string =>
  error.message.replace(/(?:, )?(?:\.\.\.)?".*"(?:\.\.\.)? is not valid JSON$/su, '') || 'unexpected text'

/**
 * Reads one message. Where its own ids (`userId`, `messageId`, …) are numbers, they become their digits as written,
 * also those that no double holds. Anything that is not JSON: `invalid_json`.
 */
export function parseJson(text: string): Parsed | Rejection {
  const parsed = parseField(text, 'The message')
  if (parsed.kind === 'rejected' || !isObject(parsed.value)) return parsed
  // The parser has just made it, and nobody else has it.
  const value = parsed.value as Record<string, unknown>
  const numbers = idFields.filter(field => typeof value[field] === 'number')
  if (numbers.length === 0) return parsed
  // Not by a reviver: it is called for every value of the text, and costs a hundred times what the parser does.
  const written = membersIn(text, numbers)
  for (const field of numbers) value[field] = written.get(field)?.trim()
  return parsed
}

/**
 * An id among the outermost members of a message that is broken or too long to be parsed. Undefined: it has none, or none
 * that can be read.
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
  /** How many `__proto__` members were left out. */
  readonly droppedKeys: number
}

/** Levels of objects and lists that a value may have, itself counted. */
export const maxNesting = 100

/**
 * Compact text that is a fixed point of `JSON.stringify(JSON.parse(text))`, which receivers compute again to check the
 * signature (A5.4). `value` is what JSON.parse gives. `__proto__` members are left out at every depth, lone surrogates
 * become U+FFFD. Rejected, naming `field`: `non_finite_number`, and `too_deep` for more than 100 levels.
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
      return rejection('too_deep', `${shown(field)} is nested more than ${maxNesting} levels deep: flatten it.`)
    case 'non_finite_number':
      return rejection('non_finite_number', `${shown(field)} holds a number beyond ±1.8e308: send a string instead.`)
  }
}

/** A sender chooses its own field names, and this one goes into answers and records. */
const shown = (field: string): string => (field.length > 60 ? `${field.slice(0, 60).toWellFormed()}…` : field)

type Finding = 'as_is' | 'to_rewrite' | 'too_deep' | 'non_finite_number'

/** Looks at everything that would be written and allocates nothing: nearly every message is written as it is. */
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

/** A copy that can be written; what JSON cannot carry (undefined, functions, …) goes the way of JSON.stringify. */
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
