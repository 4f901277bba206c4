import { configurationJsonSchema } from '../../../src/core/settings/json-schema.ts'

interface Node {
  readonly properties?: Readonly<Record<string, Node>>
  readonly items?: Node
}

/** Keys that can be set as text or as a file, and whose text is usually not a secret. */
const nonSecretKeys: ReadonlySet<string> = new Set(['username', 'url', 'clientCert', 'ca'])

/**
 * The keys of the configuration whose text is a secret, as paths without the positions of list
 * entries: `sources.writeKey`. Every secret can also be set as a file, so the schema has the key
 * `writeKeyFile` beside `writeKey`. Headers are not included: their names are not in the schema,
 * and only some of their values are secrets.
 */
export function secretKeys(node = configurationJsonSchema() as Node, path: readonly string[] = []): readonly string[] {
  const { properties = {}, items } = node
  if (items !== undefined) return secretKeys(items, path)
  return Object.entries(properties).flatMap(([key, value]) => {
    const keyPath = [...path, key]
    return `${key}File` in properties && !nonSecretKeys.has(key) ? [keyPath.join('.')] : secretKeys(value, keyPath)
  })
}
