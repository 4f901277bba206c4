import { canonicalJson } from '../message/json.ts'
import type { JsonText } from '../units.ts'

/** An audience has members, a computed trait has a value for each user. */
export type AudienceKind = 'audience' | 'trait'

/** What holds for everybody who was never named, and for those whom a full sync does not name any more. */
export const absentValue = (kind: AudienceKind): JsonText => (kind === 'audience' ? 'false' : 'null') as JsonText

export type ValueResult =
  | { readonly kind: 'value'; readonly value: JsonText }
  /** `message` ends a sentence that begins with the name of the field. */
  | { readonly kind: 'refused'; readonly message: string }

/**
 * The value that a sync gives a user, as canonical text: equal values are equal texts. An audience's is a boolean, absent means
 * member; a trait's is a number, a text or a list of these. Null takes a user out, or a trait away.
 */
export function parseValue(kind: AudienceKind, given: unknown): ValueResult {
  if (given === null) return accepted(absentValue(kind))
  if (kind === 'audience') {
    if (given === undefined) return accepted('true' as JsonText)
    return typeof given === 'boolean' ? accepted(String(given) as JsonText) : refused('must be true or false')
  }
  if (given === undefined) return refused('is missing: a computed trait has one for each user')
  if (!isScalar(given) && !(Array.isArray(given) && given.every(isScalar)))
    return refused('must be a number, a text, a list of these, or null')
  const canonical = canonicalJson(given)
  return canonical.kind === 'canonical' ? accepted(canonical.text) : refused('holds a number beyond ±1.8e308')
}

const isScalar = (value: unknown): boolean => typeof value === 'number' || typeof value === 'string'
const accepted = (value: JsonText): ValueResult => ({ kind: 'value', value })
const refused = (message: string): ValueResult => ({ kind: 'refused', message })
