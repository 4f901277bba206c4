import type { JsonDocument } from '../api/types.ts'
import { withValueAt } from './document-text.ts'

/** The write keys in the document of a source. A value that is not text becomes an empty key. */
export function writeKeysOf({ writeKey }: JsonDocument): readonly string[] {
  if (writeKey === undefined || writeKey === null) return []
  return [writeKey].flat().map(key => (typeof key === 'string' ? key : ''))
}

/**
 * The document with other write keys. A single key is written as text, and no key, or only an empty
 * one, as nothing.
 */
export function withWriteKeys(document: JsonDocument, keys: readonly string[]): JsonDocument {
  const [first = '', ...others] = keys
  if (others.length > 0) return withValueAt(document, ['writeKey'], keys)
  return withValueAt(document, ['writeKey'], first === '' ? undefined : first)
}

/**
 * Removes a write key. A later key that is only `***` becomes empty and must be written again. It is
 * too short for a fingerprint, so the operator service finds it only by its position, which changes.
 */
export const withoutKey = (keys: readonly string[], removed: number): readonly string[] =>
  keys.flatMap((key, index) => (index === removed ? [] : [index > removed && key === '***' ? '' : key]))

/**
 * Makes a write key in the form that the operator service uses: 32 random bytes in base64url. The
 * browser must make the first key of a source, because the service creates a source only with one.
 */
export function newWriteKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32))
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
}
