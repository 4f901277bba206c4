import type { SchemaNeeded, Undecodable } from '../core/ports.ts'

type Read<R> = Exclude<R, SchemaNeeded> | Undecodable

/**
 * Decodes a value, if necessary after fetching its schema. The result is `undecodable` if the
 * registry does not know the schema. Rejects if the registry is unreachable.
 */
export async function decodeWithSchemaFetch<R extends { readonly kind: string }>(
  registry: { learn(schemaId: number): Promise<boolean> },
  decode: () => R | SchemaNeeded,
): Promise<Read<R>> {
  const first = decode()
  if (!isNeeded(first)) return first as Read<R>
  const second = (await registry.learn(first.schemaId)) ? decode() : first
  if (!isNeeded(second)) return second as Read<R>
  return { kind: 'undecodable', detail: `the schema registry does not know schema ${second.schemaId}` }
}

const isNeeded = (read: object): read is SchemaNeeded => (read as SchemaNeeded).kind === 'schema_needed'
