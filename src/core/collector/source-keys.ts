import type { Source } from '../settings/settings.ts'

/** The write keys of a request, by the place that can contain one. */
export interface RequestKeys {
  readonly header: string | undefined
  readonly body: string | undefined
  readonly query: string | undefined
}

/** Finds sources by write key. A reload of the configuration replaces the whole object. */
export interface SourceKeys {
  /**
   * Returns the id of the source with this key. When no source has the whole text as a key, only
   * the text before the first colon counts, because Jitsu's libraries append a colon and a secret.
   */
  sourceOf(key: string): string | undefined
}

export function createSourceKeys(sources: readonly Source[]): SourceKeys {
  const byKey = new Map(sources.flatMap(({ id, writeKeys }) => writeKeys.map(key => [key.reveal(), id] as const)))
  return { sourceOf: key => byKey.get(key) ?? byKey.get(key.split(':', 1)[0] as string) }
}

/**
 * The write key that counts: from the header, else from the body, else from the query. Jitsu masks
 * the key in the body, so the header comes first. Beacons cannot set headers, so they use the
 * query.
 */
export const effectiveWriteKey = ({ header, body, query }: RequestKeys): string | undefined =>
  header || body || query || undefined
