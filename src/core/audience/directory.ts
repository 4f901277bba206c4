import type { Settings } from '../settings.ts'
import type { JsonText } from '../units.ts'
import { propertyOf } from './name.ts'
import { type AudienceKind, absentValue } from './value.ts'

/** An audience or computed trait, as configured now. */
export interface Audience {
  readonly name: string
  readonly kind: AudienceKind
  /** The trait that identify messages carry. */
  readonly property: string
  readonly absent: JsonText
  /** Ids of the enabled destinations that get it. A disabled one is sent nothing and gets what it missed by the next sync. */
  readonly destinations: ReadonlySet<string>
  /** Ids of all destinations of the configuration; undefined: there are some whose ids cannot be read. */
  readonly configured: ReadonlySet<string> | undefined
}

/** By name. */
export type AudienceDirectory = ReadonlyMap<string, Audience>

/** The audiences of settings, swapped whole when these are reloaded. */
export function audienceDirectory({
  audiences,
  destinations,
  excluded,
}: Pick<Settings, 'audiences' | 'destinations' | 'excluded'>): AudienceDirectory {
  const configured = (excluded?.unnamed ?? 0) > 0 ? undefined : new Set(destinations.map(({ id }) => id))
  const enabled = new Set(destinations.filter(destination => destination.enabled).map(({ id }) => id))
  return new Map(
    audiences.list.map(({ name, kind, destinations: listed }) => {
      const property = propertyOf(name)
      if (property === undefined) throw new TypeError(`the audience ${JSON.stringify(name)} has no property`)
      const connected = new Set(listed.filter(id => enabled.has(id)))
      return [name, { name, kind, property, absent: absentValue(kind), destinations: connected, configured }]
    }),
  )
}
