import type { JsonDocument } from '../api/response-types.ts'

type Path = readonly (string | number)[]

export const textOf = (document: JsonDocument): string => JSON.stringify(document, null, 2)

export type ParsedText =
  | { readonly kind: 'document'; readonly document: JsonDocument }
  | { readonly kind: 'wrong'; readonly message: string }

export function parseText(text: string): ParsedText {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return { kind: 'document', document: value as JsonDocument }
    return { kind: 'wrong', message: 'The text must be a JSON object.' }
  } catch (error) {
    return { kind: 'wrong', message: `The text is not JSON: ${(error as Error).message}` }
  }
}

/**
 * Returns a copy of the document with this value at the path. `undefined` removes the key or the
 * list entry, and then the objects that become empty.
 */
export function withValueAt(document: JsonDocument, path: Path, value: unknown): JsonDocument {
  return (replaced(document, path, value) ?? {}) as JsonDocument
}

function replaced(node: unknown, [key, ...rest]: Path, value: unknown): unknown {
  if (key === undefined) return value
  if (typeof key === 'number') {
    const list: readonly unknown[] = Array.isArray(node) ? node : []
    const inner = replaced(list[key], rest, value)
    if (inner === undefined) return list.filter((_, index) => index !== key)
    return key < list.length ? list.map((each, index) => (index === key ? inner : each)) : [...list, inner]
  }
  const object = typeof node === 'object' && node !== null && !Array.isArray(node) ? node : {}
  const inner = replaced((object as JsonDocument)[key], rest, value)
  if (inner !== undefined) return { ...object, [key]: inner }
  const others = Object.entries(object).filter(([name]) => name !== key)
  return others.length === 0 ? undefined : Object.fromEntries(others)
}

/** Splits a text like `a, b` at commas and white space. */
export function entriesOf(text: string): readonly string[] {
  return text
    .split(/[,\s]+/)
    .map(each => each.trim())
    .filter(each => each !== '')
}
