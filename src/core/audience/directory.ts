import { canonicalJson } from '../message/json.ts'
import { propertyOf } from '../message/property-name.ts'
import type { Settings } from '../settings/settings.ts'
import type { JsonText } from '../units.ts'

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

/** An audience has members, a computed trait has a value for each user. */
export type AudienceKind = 'audience' | 'trait'

/** What holds for everybody who was never named, and for those whom a full sync does not name any more. */
export const absentValue = (kind: AudienceKind): JsonText => (kind === 'audience' ? 'false' : 'null') as JsonText

export type ValueResult =
  | { readonly kind: 'value'; readonly value: JsonText }
  /** `message` ends a sentence that begins with the name of the field. */
  | { readonly kind: 'refused'; readonly message: string }

/**
 * The value that a sync gives a user, as canonical text: equal values are equal texts. An audience's is a boolean, absent means
 * member; a trait's is a number, a text or a list of these. Null takes a user out, or a trait away.
 */
export function parseValue(kind: AudienceKind, given: unknown): ValueResult {
  if (given === null) return accepted(absentValue(kind))
  if (kind === 'audience') {
    if (given === undefined) return accepted('true' as JsonText)
    return typeof given === 'boolean' ? accepted(String(given) as JsonText) : refused('must be true or false')
  }
  if (given === undefined) return refused('is missing: a computed trait has one for each user')
  if (!isScalar(given) && !(Array.isArray(given) && given.every(isScalar)))
    return refused('must be a number, a text, a list of these, or null')
  const canonical = canonicalJson(given)
  return canonical.kind === 'canonical' ? accepted(canonical.text) : refused('holds a number beyond ±1.8e308')
}

const isScalar = (value: unknown): boolean => typeof value === 'number' || typeof value === 'string'
const accepted = (value: JsonText): ValueResult => ({ kind: 'value', value })
const refused = (message: string): ValueResult => ({ kind: 'refused', message })
