import type { SchemaNeeded, Undecodable } from '../core/ports.ts'

type Read<R> = Exclude<R, SchemaNeeded> | Undecodable

/**
 * Decodes; when the writer's schema is not known yet, asks the registry for it and decodes once more. One that the registry does not
 * know either makes the value undecodable. Rejects while the registry cannot be reached.
 */
export async function decodeLearning<R extends { readonly kind: string }>(
  registry: { learn(schemaId: number): Promise<boolean> },
  decode: () => R | SchemaNeeded,
): Promise<Read<R>> {
  const first = decode()
  if (!isNeeded(first)) return first as Read<R>
  const second = (await registry.learn(first.schemaId)) ? decode() : first
  if (!isNeeded(second)) return second as Read<R>
  return { kind: 'undecodable', detail: `schema ${second.schemaId} is not known to the registry` }
}

const isNeeded = (read: object): read is SchemaNeeded => (read as SchemaNeeded).kind === 'schema_needed'
