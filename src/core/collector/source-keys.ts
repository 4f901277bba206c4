import type { Source } from '../settings/settings.ts'

/** Where a write key can stand in one request. */
export interface GivenKeys {
  readonly header: string | undefined
  readonly body: string | undefined
  readonly query: string | undefined
}

/** Whose write key is whose, at one moment: swapped whole when the configuration is reloaded. */
export interface SourceKeys {
  /** The id of the source with this key; also when a secret follows it behind a colon, as Jitsu's libraries send it. */
  sourceOf(key: string): string | undefined
}

export function createSourceKeys(sources: readonly Source[]): SourceKeys {
  const byKey = new Map(sources.flatMap(({ id, writeKeys }) => writeKeys.map(key => [key.reveal(), id] as const)))
  return { sourceOf: key => byKey.get(key) ?? byKey.get(key.split(':', 1)[0] as string) }
}

/**
 * The one key that counts: Jitsu masks the body's, so a header beats it; beacons cannot set headers and carry it in the query.
 * An empty one is none.
 */
export const keyThatCounts = ({ header, body, query }: GivenKeys): string | undefined =>
  header || body || query || undefined
