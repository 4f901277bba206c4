import { randomText } from '../api/random-text.ts'
import type { JsonDocument } from '../api/response-types.ts'
import { withValueAt } from './document-text.ts'

/** Returns the write keys as a list. A key that is not text becomes an empty key. */
export function writeKeysOf({ writeKey }: JsonDocument): readonly string[] {
  if (writeKey === undefined || writeKey === null) return []
  return [writeKey].flat().map(key => (typeof key === 'string' ? key : ''))
}

/**
 * Sets `writeKey`: several keys become a list, and one key becomes text. Without a key, or with a
 * single empty one, `writeKey` is removed.
 */
export function withWriteKeys(document: JsonDocument, keys: readonly string[]): JsonDocument {
  const [first = '', ...others] = keys
  if (others.length > 0) return withValueAt(document, ['writeKey'], keys)
  return withValueAt(document, ['writeKey'], first === '' ? undefined : first)
}

/**
 * Removes a key. Each later masked key (`***`) becomes empty, because the operator service finds a
 * masked key by its position, which the removal changes.
 */
export const withoutKey = (keys: readonly string[], removed: number): readonly string[] =>
  keys.flatMap((key, index) => (index === removed ? [] : [index > removed && key === '***' ? '' : key]))

/**
 * 32 random bytes in base64url. The operator service refuses to create a source without a key, so
 * the browser makes the first one.
 */
export const newWriteKey = randomText
