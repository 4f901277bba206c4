import type { JsonText } from './canonical-json-text.ts'
import type { JsonObject } from './json.ts'
import { type Rejection, rejection } from './message-rejection.ts'

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
 * receivers can check the signature after parsing. A rejection message begins with `field`. Never
 * pass a sender's key as `field`: the key can be very long, or contain personal data.
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

/** Whether a value is nested more than `maxNesting` levels deep. */
export const isTooDeep = (value: unknown, levels = 0): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (levels === maxNesting || Object.values(value).some(each => isTooDeep(each, levels + 1)))

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
