export type JsonObject = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Whether a value is a whole number of at least 0 that a `number` holds exactly. */
export const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0

/** The value of a JSON text; `undefined` when the text is not JSON. */
export function jsonValueIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The JSON object in a text; `undefined` for anything else. */
export function objectIn(text: string): JsonObject | undefined {
  const value = jsonValueIn(text)
  return isObject(value) ? value : undefined
}

/** Returns a copy of an object with sorted keys, so that equal objects have the same JSON text. */
export const withSortedKeys = (node: object): object =>
  Object.fromEntries(Object.entries(node).sort(([a], [b]) => (a < b ? -1 : 1)))
