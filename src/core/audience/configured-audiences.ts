import { traitNameOf } from '../message/audience-name-to-trait-name.ts'
import type { JsonText } from '../message/canonical-json-text.ts'
import type { Settings } from '../settings/settings.ts'

/** An audience or a computed trait of the current configuration. */
export interface Audience {
  readonly name: string
  readonly kind: AudienceKind
  /** Name of the trait with the user's value in the identify messages. */
  readonly property: string
  readonly absent: JsonText
  /** Ids of the enabled destinations of the audience. */
  readonly destinations: ReadonlySet<string>
  /**
   * Ids of the disabled destinations of the audience. When a destination is enabled, the next full
   * sync sends it the missed changes.
   */
  readonly disabled: ReadonlySet<string>
  /**
   * Ids of all destinations in the configuration; any other destination was removed. `undefined` if
   * an id cannot be read: no destination then counts as removed.
   */
  readonly configured: ReadonlySet<string> | undefined
}

/** Audiences by name. */
export type AudienceDirectory = ReadonlyMap<string, Audience>

/** Builds the directory from the settings. */
export function audienceDirectory({
  audiences,
  destinations,
  excluded,
}: Pick<Settings, 'audiences' | 'destinations' | 'excluded'>): AudienceDirectory {
  if (audiences.list.length === 0) return new Map()
  const configured = (excluded?.unnamed ?? 0) > 0 ? undefined : new Set(destinations.map(({ id }) => id))
  const enabledById = new Map(destinations.map(({ id, enabled }) => [id, enabled]))
  return new Map(
    audiences.list.map(({ name, kind, destinations: listed }) => {
      const property = traitNameOf(name)
      if (property === undefined)
        throw new TypeError(`the audience name ${JSON.stringify(name)} has no letter or digit`)
      const enabled = new Set(listed.filter(id => enabledById.get(id) === true))
      const disabled = new Set(listed.filter(id => enabledById.get(id) === false))
      return [name, { name, kind, property, absent: absentValue(kind), destinations: enabled, disabled, configured }]
    }),
  )
}

/**
 * In an `audience`, the value of a user is `true` or `false`; in a `trait`, a number, string or
 * list.
 */
export type AudienceKind = 'audience' | 'trait'

/** The value of a user whom no sync has listed, or whom the last full sync did not list. */
export const absentValue = (kind: AudienceKind): JsonText => (kind === 'audience' ? 'false' : 'null') as JsonText
