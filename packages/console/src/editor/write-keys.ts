import { randomText } from '../api/random-text.ts'
import type { JsonDocument } from '../api/response-types.ts'
import { withValueAt } from './document-text.ts'

/** The write keys in the document of a source. A value that is not text becomes an empty key. */
export function writeKeysOf({ writeKey }: JsonDocument): readonly string[] {
  if (writeKey === undefined || writeKey === null) return []
  return [writeKey].flat().map(key => (typeof key === 'string' ? key : ''))
}

/**
 * Returns the document with other write keys. Several keys are written as a list, and a single key
 * as text. If there is no key, or only one empty key, `writeKey` is removed.
 */
export function withWriteKeys(document: JsonDocument, keys: readonly string[]): JsonDocument {
  const [first = '', ...others] = keys
  if (others.length > 0) return withValueAt(document, ['writeKey'], keys)
  return withValueAt(document, ['writeKey'], first === '' ? undefined : first)
}

/**
 * Removes a write key from the list. A stored key that is too short for a fingerprint is shown as
 * `***`, and the operator service finds its stored value by the position in the list. The removal
 * changes the positions of all later keys. So each later `***` becomes empty, and the user must
 * type this key again.
 */
export const withoutKey = (keys: readonly string[], removed: number): readonly string[] =>
  keys.flatMap((key, index) => (index === removed ? [] : [index > removed && key === '***' ? '' : key]))

/**
 * Makes a write key in the form that the operator service uses: 32 random bytes in base64url. The
 * browser must make the first key of a source, because the operator service refuses to create a
 * source without a key.
 */
export const newWriteKey = randomText
