/** The value of a query parameter. A parameter with the value `undefined` or `''` is left out. */
export type QueryValue = string | number | boolean | undefined

/** The path with its query, for example `/v1/destinations?limit=100`. */
export function pathWith(path: string, query: Readonly<Record<string, QueryValue>>): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '')
  if (given.length === 0) return path
  const texts = given.map(([name, value]) => [name, String(value)] as const)
  return `${path}?${new URLSearchParams(Object.fromEntries(texts))}`
}

/** The fields of an object, without those that are `undefined` or the empty text. */
export function withoutEmpty<T extends object>(fields: T): Partial<T> {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined && value !== '')
  return Object.fromEntries(given) as Partial<T>
}
