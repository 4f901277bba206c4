import type { Source } from '../settings/settings.ts'

/** The places of a request that can contain a write key. */
export interface RequestKeys {
  readonly header: string | undefined
  readonly body: string | undefined
  readonly query: string | undefined
}

/** Finds sources by write key. A reload of the configuration replaces the whole object. */
export interface SourceKeys {
  /**
   * The id of the source with this key. A secret after a colon is ignored; Jitsu's libraries send
   * one.
   */
  sourceOf(key: string): string | undefined
}

export function createSourceKeys(sources: readonly Source[]): SourceKeys {
  const byKey = new Map(sources.flatMap(({ id, writeKeys }) => writeKeys.map(key => [key.reveal(), id] as const)))
  return { sourceOf: key => byKey.get(key) ?? byKey.get(key.split(':', 1)[0] as string) }
}

/**
 * The write key of a request. The header comes first, because Jitsu masks the key in the body.
 * Beacons cannot set headers, so they send the key in the query. An empty key is ignored.
 */
export const effectiveWriteKey = ({ header, body, query }: RequestKeys): string | undefined =>
  header || body || query || undefined
