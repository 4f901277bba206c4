import type { Source } from '../settings/settings.ts'

/** The write keys in a request. A key can be in three places: a header, the body and the query. */
export interface RequestKeys {
  readonly header: string | undefined
  readonly body: string | undefined
  readonly query: string | undefined
}

/** Finds sources by write key. A reload of the configuration replaces the whole object. */
export interface SourceKeys {
  /**
   * Returns the id of the source with this key. If no source has the whole text as a key, the text
   * before the first colon is tried as the key, because Jitsu's libraries append a colon and a
   * secret to the key.
   */
  sourceOf(key: string): string | undefined
}

export function createSourceKeys(sources: readonly Source[]): SourceKeys {
  const byKey = new Map(sources.flatMap(({ id, writeKeys }) => writeKeys.map(key => [key.reveal(), id] as const)))
  return { sourceOf: key => byKey.get(key) ?? byKey.get(key.split(':', 1)[0] as string) }
}

/**
 * Returns the write key that is used for a request: the key in the header, otherwise that in the
 * body, otherwise that in the query. The header comes first because Jitsu masks the key in the
 * body. The query is needed because `navigator.sendBeacon` cannot set headers.
 */
export const effectiveWriteKey = ({ header, body, query }: RequestKeys): string | undefined =>
  header || body || query || undefined
