import type { Source } from '../settings/settings.ts'

export interface RequestKeys {
  readonly header: string | undefined
  readonly body: string | undefined
  readonly query: string | undefined
}

/** Finds sources by write key. A reload of the configuration replaces the whole object. */
export interface SourceKeys {
  /**
   * Returns the id of the source with this write key. Without an exact match, tries the text before
   * the first colon: Jitsu's libraries append a colon and a secret.
   */
  sourceOf(key: string): string | undefined
}

export function createSourceKeys(sources: readonly Source[]): SourceKeys {
  const byKey = new Map(sources.flatMap(({ id, writeKeys }) => writeKeys.map(key => [key.reveal(), id] as const)))
  return { sourceOf: key => byKey.get(key) ?? byKey.get(key.split(':', 1)[0] as string) }
}

/**
 * Returns the write key of a request. The header comes first, because Jitsu masks the key in the
 * body. The query is needed, because `navigator.sendBeacon` cannot set headers.
 */
export const effectiveWriteKey = ({ header, body, query }: RequestKeys): string | undefined =>
  header || body || query || undefined
