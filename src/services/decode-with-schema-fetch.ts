import type { SchemaNeeded, Undecodable } from '../core/ports.ts'

type Read<R> = Exclude<R, SchemaNeeded> | Undecodable

/**
 * Decodes a value. When the writer's schema is unknown, fetches it from the schema registry and
 * decodes again. The value is undecodable when the registry does not know the schema either.
 * Rejects if the registry cannot be reached; a later call can succeed.
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
